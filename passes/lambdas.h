// Room passes: host side. Completes the calls of the JIT interface that deal with lambdas.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include <string>
#include <vector>

#include "passes/shielded.h"

namespace mneme::passes {

/// Passes to calls of proteus::jit_variable the number of the closure's field that the value is
/// stored in, and to what proteus::register_lambda calls all such fields of the closure's type.
/// Returns whether the module changed.
bool fillLambdaCalls(llvm::Module& module);

/// Returns whether the function is the call operator of a lambda or another class.
bool isCallOperator(const llvm::Function& function);

/// Returns the demangled closure type whose call operator the function is; empty for other
/// functions, those of other classes among them.
std::string closureTypeOf(const llvm::Function& function);

/// The place of a closure in an argument of a kernel.
struct ClosurePlace {
  unsigned argument;
  uint64_t offset;
  uint64_t sizeBytes;
  bool operator==(const ClosurePlace&) const = default;
};
/// Returns where in its arguments a kernel gets the closures from that it calls with this operator,
/// in the order of the calls. Works on functions as the front end emits them. What is unknown
/// is left out.
std::vector<ClosurePlace> closurePlaces(const Bitcode& code, llvm::StringRef kernelName,
                                        llvm::StringRef operatorName);

} // namespace mneme::passes
