// Room emulator/lowering: finds the accesses of a kernel to memory that other threads see, and
// whether two lanes of a warp can access the same bytes. Internal to this folder.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Instructions.h>

#include "runtime/emulator/lowering/in_step/linear.h"

namespace mneme::compile::cpu::in_step {

struct Access {
  llvm::Instruction* instruction = nullptr;
  bool writes = false;
  bool isShared = false; ///< in memory of the block, not of the device
  const llvm::Value* base = nullptr;
  llvm::SmallPtrSet<const llvm::Value*, 2> objects; ///< what `base` may point into
  Sum offset;                                       ///< in bytes from `base`
  int64_t displacement = 0;                         ///< the constant in it
  unsigned form = 0; ///< the same for offsets that differ in their constants only
  int64_t bytes = 0;
  std::vector<Sum> notNegative; ///< what is not below zero where it happens
  unsigned facts = 0;           ///< the same for accesses with the same `notNegative`
};

/// Returns all accesses with a known object, in the order of the function.
std::vector<Access> findAccesses(llvm::Function& kernel, Sums& sums,
                                 const llvm::DominatorTree& dominators);

/// Decides about pairs of accesses, the first by one lane, the second by another of its warp.
class Meeting {
public:
  explicit Meeting(Sums& sums) : sums_(sums) {}

  /// Returns whether they may access the same bytes. `isRenewed` is called to find out whether a
  /// value may have been recomputed between them.
  bool isPossible(const Access& first, const Access& second,
                  llvm::function_ref<bool(const llvm::Instruction&)> isRenewed);
  /// Returns whether they certainly do, at a known distance between lanes.
  bool isCertain(const Access& first, const Access& second,
                 llvm::function_ref<bool(const llvm::Instruction&)> isRenewed);

private:
  bool mayBeApart(const Access& first, const Access& second) const;
  bool mayMeet(const Access& first, const Access& second, bool isSameBase,
               llvm::function_ref<bool(const llvm::Instruction&)> isRenewed);
  std::vector<int64_t> keyOf(const Access& first, const Access& second, bool isSameBase,
                             llvm::function_ref<bool(const llvm::Instruction&)> isRenewed) const;
  bool isOwnPart(const Access& first, const Access& second) const;

  Sums& sums_;
  std::map<std::vector<int64_t>, bool> answers_; ///< many pairs ask the same
  uint64_t work_ = 0;                            ///< so far, in numbers looked at
};

} // namespace mneme::compile::cpu::in_step
