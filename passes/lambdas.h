// Room passes: host side. What calls of the JIT interface about lambdas cannot know themselves.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include <string>
#include <vector>

namespace mneme::passes {

/// Gives calls of proteus::jit_variable the field of the closure that the value goes to, by number
/// and by offset, and calls of proteus::register_lambda the demangled type of the closure. Returns
/// whether the module changed.
bool fillLambdaCalls(llvm::Module& module);

/// The demangled closure type that a function is the call operator of; empty for other functions.
std::string closureTypeOf(const llvm::Function& function);

/// The argument of a call operator that is the closure's address; null if there is none.
const llvm::Argument* closureArgumentOf(const llvm::Function& callOperator);

/// Where an argument of a kernel holds a closure.
struct ClosurePlace {
  unsigned argument;
  uint64_t offset;
  uint64_t sizeBytes;
};
/// Closures of a call operator that arguments hold by value, also in other objects; as the compiler
/// writes functions, before any optimisation. None where that is not to be seen.
std::vector<ClosurePlace> closurePlaces(const llvm::Function& kernel,
                                        const llvm::Function& callOperator);

} // namespace mneme::passes
