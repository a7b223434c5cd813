// Room emulator/lowering: the kernel's function as the body of a loop over threads. Internal to
// this folder.
#pragma once

#include <vector>

#include <llvm/ADT/BitVector.h>
#include <llvm/IR/Function.h>

#include "runtime/emulator/lowering/steps.h"

namespace mneme::compile::cpu {

inline constexpr const char* kAxes[] = {"x", "y", "z"};

struct Body {
  llvm::Function* function = nullptr;
  std::vector<llvm::Type*> byValue; ///< per argument: the struct's type, or null
  llvm::BitVector isWritten;        ///< per argument: a by-value struct the kernel changes
  bool isStepwise = false; ///< executes one iteration of a strided loop, see isolateIteration
};

/// Builds run_block or run_thread around the body, which ceases to be a function of its own, and
/// says so in `entry`.
void wrapBody(llvm::Module& module, const Body& body, const KernelTraits& traits,
              bool hasOtherFunctions, KernelEntry& entry);

} // namespace mneme::compile::cpu
