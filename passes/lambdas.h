// Room passes: host side. Completes the calls of the JIT interface that deal with lambdas.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include <string>
#include <vector>

namespace mneme::passes {

/// Passes to calls of proteus::jit_variable the number and offset of the closure's field that the
/// value is stored in, and to calls of proteus::register_lambda the demangled type of the closure.
/// Returns whether the module changed.
bool fillLambdaCalls(llvm::Module& module);

/// Returns the demangled closure type whose call operator the function is; empty for other
/// functions.
std::string closureTypeOf(const llvm::Function& function);

/// Returns the call operator's argument that is the closure's address; null if there is none.
const llvm::Argument* closureArgumentOf(const llvm::Function& callOperator);

/// The place of a closure in an argument of a kernel.
struct ClosurePlace {
  unsigned argument;
  uint64_t offset;
  uint64_t sizeBytes;
};
/// Returns the closures of a call operator that arguments hold by value, directly or inside other
/// objects. Works on unoptimised functions as the front end emits them. Empty if that cannot be
/// determined.
std::vector<ClosurePlace> closurePlaces(const llvm::Function& kernel,
                                        const llvm::Function& callOperator);

} // namespace mneme::passes
