// Room compiler: compiles a kernel's helpers as in the program, where other kernels call them, too.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/Module.h>

#include <string>
#include <vector>

namespace mneme::compile {

/// An internal function that other kernels of its unit call.
struct SharedFunction {
  std::string name;
  std::vector<unsigned> agreed; ///< arguments with the same constant in all calls
};

/// Adds a caller to each function, of which only the agreed arguments are known. Without it, the
/// last call of a function is inlined regardless of its size, and arguments of the only call become
/// constants. Functions that the module lacks, or has with another type, are skipped.
void addOtherCallers(llvm::Module& module, llvm::ArrayRef<SharedFunction> functions);

/// Removes these callers, and functions without callers.
void removeOtherCallers(llvm::Module& module);

} // namespace mneme::compile
