// Room compile: a kernel's helpers as the program has them, whose other kernels call them too.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/Module.h>

#include <string>
#include <vector>

namespace mneme::compile {

/// An internal function that other kernels of its unit call.
struct SharedFunction {
  std::string name;
  std::vector<unsigned> agreed; ///< arguments that are one constant in all calls
};

/// Gives each function a caller more, of which nothing is known but the agreed arguments: without
/// it, the last call of a function is inlined whatever its size, and arguments of the only call are
/// constants in it. Functions the module does not have, or has otherwise, are left out.
void addOtherCallers(llvm::Module& module, llvm::ArrayRef<SharedFunction> functions);

/// Takes these callers away, with functions that nobody is left to call.
void removeOtherCallers(llvm::Module& module);

} // namespace mneme::compile
