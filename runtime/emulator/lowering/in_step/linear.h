// Room emulator/lowering: represents integers of a kernel as sums of products where possible.
// Internal to this folder.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>

namespace mneme::compile::cpu::in_step {

/// The number of a value that sums are made of.
using Leaf = unsigned;
/// Leaves in ascending order. Empty: the product is 1.
using Product = std::vector<Leaf>;
/// A sum of products with their factors.
using Sum = std::map<Product, int64_t>;

void add(Sum& sum, const Sum& other, int64_t factor = 1);
Sum constant(int64_t number);

struct LeafFacts {
  const llvm::Instruction* value = nullptr; ///< null: constant during a launch, or of the thread
  bool isThread = false;                    ///< an index of the thread within its block
  bool isSize = false;                      ///< a dimension of the launch: at least 1
  bool isAlike = false;                     ///< converged lanes of a warp have the same value
  bool isCount = false;                     ///< not negative itself
  std::vector<Sum> notNegative;             ///< sums that are never negative
};

/// Values that may differ between threads of a block at the same place in the code.
class Divergence {
public:
  Divergence(llvm::Function& kernel, const llvm::DominatorTree& dominators);
  bool contains(const llvm::Value* value) const { return divergent_.contains(value); }

private:
  bool isSource(const llvm::Instruction& instruction) const;
  bool dependsOnDivergentBranch(const llvm::Instruction& instruction) const;

  const llvm::DominatorTree& dominators_;
  llvm::DenseSet<const llvm::Value*> divergent_;
};

/// Sums that integers of one kernel are. What it assumes: nothing wraps around, what multiplies
/// a thread's index by a number only the launch knows is positive, and x & (size - 1) means the
/// remainder: the size is a power of two.
class Sums {
public:
  Sums(llvm::Function& kernel, unsigned warpSize, const llvm::DominatorTree& dominators);

  const Sum& of(llvm::Value* value);
  unsigned warpSize() const { return warpSize_; }
  Leaf leafCount() const { return Leaf(leaves_.size()); }
  const LeafFacts& facts(Leaf leaf) const { return leaves_[leaf]; }
  /// Returns the thread's number within its block.
  Sum thread();
  /// Returns whether the kernel uses only one dimension of the block.
  bool isFlat() const { return !uses_[1] && !uses_[2]; }
  bool usesAxis(unsigned axis) const { return axis == 0 || uses_[axis]; }
  Leaf threadIndex(unsigned axis);
  /// Returns the number of the warp, and relates it to the thread's number.
  Leaf warp();

private:
  Sum compute(llvm::Value* value);
  Sum ofOperation(llvm::Instruction& instruction);
  Sum ofRegister(llvm::Instruction& call, llvm::StringRef name);
  Sum product(const Sum& a, const Sum& b, llvm::Instruction& instruction);
  Sum quotient(llvm::Instruction& instruction, const Sum& dividend, const Sum& divisor);
  Sum remainder(llvm::Instruction& instruction, const Sum& dividend, const Sum& divisor);
  Sum masked(llvm::Instruction& instruction, const Sum& value, const Sum& mask);
  Leaf quotientLeaf(const Sum& value, const Sum& divisor, const llvm::Instruction* at);
  Sum opaque(llvm::Value* value);
  Leaf launchLeaf(llvm::StringRef name, int64_t least);
  Sum boundOfPhi(llvm::PHINode& phi);
  bool countsEvenly(llvm::PHINode& phi, Sum& sum);

  unsigned warpSize_;
  Divergence divergence_;
  bool uses_[3] = {};
  unsigned depth_ = 0;
  std::vector<LeafFacts> leaves_;
  std::map<std::string, Leaf> named_;
  std::map<std::pair<Sum, Sum>, Leaf> quotients_;
  llvm::DenseMap<llvm::Value*, Leaf> opaque_;
  llvm::DenseMap<llvm::Value*, Sum> known_;
};

/// Returns the name of the special register that the instruction reads; empty if it reads none.
llvm::StringRef registerName(const llvm::Instruction& instruction);

} // namespace mneme::compile::cpu::in_step
