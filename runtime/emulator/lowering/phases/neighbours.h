// Room emulator/lowering: whether threads of a block that are neighbours touch neighbouring memory.
// Internal.
#pragma once

#include <cstdint>
#include <optional>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Operator.h>

namespace mneme::compile::cpu {

/// How far apart neighbouring threads find a value, in bytes or units.
class Stride {
public:
  /// `divergent` may differ between threads, and must outlive this.
  Stride(const llvm::Value* thread, const llvm::SmallPtrSetImpl<const llvm::Value*>& divergent)
      : divergent_(divergent) {
    learn(thread, 1);
  }

  void learn(const llvm::Value* value, int64_t stride) { known_[value] = stride; }
  /// Nothing if that varies.
  std::optional<int64_t> of(const llvm::Value* value, unsigned depth = 0) const;

private:
  std::optional<int64_t> ofAddress(const llvm::GEPOperator& address, unsigned depth) const;

  const llvm::SmallPtrSetImpl<const llvm::Value*>& divergent_;
  llvm::DenseMap<const llvm::Value*, int64_t> known_;
};

/// Neighbouring threads read and write the same or neighbouring memory in the loop.
bool touchesNeighbours(const llvm::Loop& loop, const Stride& stride);

/// Loads and stores of which none is ordered or volatile, no calls but of harmless intrinsics.
bool hasOnlyPlainAccesses(llvm::Function& function);

} // namespace mneme::compile::cpu
