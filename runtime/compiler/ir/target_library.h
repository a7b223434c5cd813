// Room compiler/ir: the library functions that LLVM may make assumptions about.
#pragma once

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/TargetParser/Triple.h>

namespace mneme::ir {

/// A GPU has none, as in clang: there a loop that fills memory does not become a call of memset.
/// The CPU has the memory functions only. Calls of libm stay calls: folding or rewriting `pow(x,
/// 2)` would make results depend on the pass pipeline. There is no vector math library, for the
/// same reason.
inline llvm::TargetLibraryInfoImpl targetLibraryOf(const llvm::Triple& triple) {
  llvm::TargetLibraryInfoImpl library(triple);
  library.disableAllFunctions();
  if (triple.isNVPTX() || triple.isAMDGPU())
    return library;
  for (const llvm::LibFunc function :
       {llvm::LibFunc_memcpy, llvm::LibFunc_memmove, llvm::LibFunc_memset})
    library.setAvailable(function);
  return library;
}

} // namespace mneme::ir
