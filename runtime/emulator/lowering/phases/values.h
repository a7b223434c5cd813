// Room emulator/lowering: which values outlive a barrier, and how each gets to the other side.
// Internal.
#pragma once

#include <cstdint>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SetVector.h>

#include "runtime/emulator/lowering/phases/phases.h"

namespace mneme::compile::cpu {

/// Per barrier, the instructions whose values are used behind it, in program order.
std::vector<llvm::SmallSetVector<llvm::Instruction*, 16>>
valuesAcross(llvm::Function& body, const std::vector<PhaseBarrier>& barriers);

/// Locals that must keep their content or their address over a barrier.
llvm::SmallVector<llvm::AllocaInst*>
localsAcross(llvm::Function& body,
             const std::vector<llvm::SmallSetVector<llvm::Instruction*, 16>>& across);

/// Computes values again behind a barrier where that is cheaper than keeping them.
class Recomputation {
public:
  explicit Recomputation(const llvm::Value* context) : context_(context) {}
  bool isCheap(llvm::Instruction* value);
  /// The value, computed at the end of `block`.
  llvm::Value* emit(llvm::Instruction* value, llvm::BasicBlock* block);

private:
  bool isPure(const llvm::Instruction& instruction) const;
  bool addChain(llvm::Instruction* value, llvm::SmallPtrSetImpl<llvm::Instruction*>& chain);

  const llvm::Value* context_;
  llvm::DenseMap<std::pair<llvm::Instruction*, llvm::BasicBlock*>, llvm::Value*> made_;
};

/// Places things of all threads in the scratch memory of a block: each thing is an array with one
/// element per thread, so that neighbouring threads touch neighbouring memory.
class ScratchLayout {
public:
  /// Larger alignments first. Returns the offset of the array in units of the number of threads.
  uint64_t add(uint64_t sizeBytes);
  uint64_t bytesPerThread() const { return bytes_; }

private:
  uint64_t bytes_ = 0;
};

} // namespace mneme::compile::cpu
