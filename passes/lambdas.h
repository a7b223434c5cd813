// Room passes: host side. What calls of the JIT interface about lambdas cannot know themselves.
#pragma once

#include <llvm/IR/Module.h>

#include <string>

namespace mneme::passes {

/// Gives calls of proteus::jit_variable the field of the closure that the value goes to, by number
/// and by offset, and calls of proteus::register_lambda the demangled type of the closure. Returns
/// whether the module changed.
bool fillLambdaCalls(llvm::Module& module);

/// The demangled closure type that a function is the call operator of; empty for other functions.
std::string closureTypeOf(const llvm::Function& function);

} // namespace mneme::passes
