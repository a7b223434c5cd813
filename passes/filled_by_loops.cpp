#include "passes/filled_by_loops.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include "passes/unset_flow.h"
#include "runtime/compiler/ir/compat.h"
#include "runtime/compiler/ir/target_library.h"

namespace mneme::passes {
namespace {

// A variable with more accesses is not an array that loops go through.
constexpr size_t kMaxAccesses = 256;

/// Bytes from `begin` on up to `end`, counted from the variable's address; the same in each round
/// of every loop.
struct Range {
  const llvm::SCEV* begin = nullptr;
  const llvm::SCEV* end = nullptr;
};

struct Access {
  llvm::Instruction* instruction;
  llvm::Value* address;
  const llvm::SCEV* sizeBytes;
};

/// The range is written once `instruction` was reached, or `loop` was left.
struct Write {
  llvm::Instruction* instruction;
  const llvm::Loop* loop;
  Range range;
};

class Filling {
public:
  Filling(llvm::AllocaInst& variable, llvm::DominatorTree& tree)
      : variable_(variable), function_(*variable.getFunction()), tree_(tree), loops_(tree),
        assumptions_(function_),
        libraryImpl_(ir::targetLibraryOf(compat::moduleTriple(*variable.getModule()))),
        library_(libraryImpl_), evolution_(function_, library_, assumptions_, tree, loops_) {}

  bool isBeforeReads(const llvm::MemIntrinsic& first) {
    if (!collect(variable_))
      return false;
    llvm::erase_if(writes_,
                   [&](const Write& write) { return !tree_.dominates(&first, write.instruction); });
    first_ = &first;
    return llvm::all_of(reads_, [&](const Access& read) { return isCovered(read); });
  }

private:
  const llvm::SCEV* number(uint64_t value) {
    return evolution_.getConstant(llvm::Type::getInt64Ty(function_.getContext()), value);
  }

  const llvm::SCEV* wide(const llvm::SCEV* value) {
    return evolution_.getTruncateOrZeroExtend(value,
                                              llvm::Type::getInt64Ty(function_.getContext()));
  }

  const llvm::SCEV* sizeOf(llvm::Type* type) {
    return number(variable_.getModule()->getDataLayout().getTypeStoreSize(type).getFixedValue());
  }

  bool collect(llvm::Value& address) {
    return llvm::all_of(address.uses(), [&](llvm::Use& use) { return collectUse(use); });
  }

  bool collectUse(llvm::Use& use) {
    auto* user = llvm::cast<llvm::Instruction>(use.getUser());
    if (user->isLifetimeStartOrEnd())
      return true;
    if (llvm::isa<llvm::GEPOperator, llvm::AddrSpaceCastOperator>(user))
      return collect(*user);
    if (reads_.size() + writes_.size() > kMaxAccesses)
      return false;
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) {
      reads_.push_back({user, use.get(), sizeOf(load->getType())});
      return true;
    }
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) {
      if (use.getOperandNo() != llvm::StoreInst::getPointerOperandIndex())
        return false;
      addWrite({user, use.get(), sizeOf(store->getValueOperand()->getType())});
      return true;
    }
    auto* transfer = llvm::dyn_cast<llvm::MemIntrinsic>(user);
    if (!transfer)
      return false;
    if (use.getOperandNo() == 0 && bringsUnknown(*transfer))
      return true;
    const Access access{user, use.get(), wide(evolution_.getSCEV(transfer->getLength()))};
    if (use.getOperandNo() == 0)
      addWrite(access);
    else
      reads_.push_back(access);
    return true;
  }

  static bool bringsUnknown(const llvm::MemIntrinsic& transfer) {
    const auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&transfer);
    return copy &&
           llvm::getUnderlyingObject(copy->getSource())->getName().starts_with(kUnknownContent);
  }

  /// Writes whose place or extent is not known prove nothing.
  void addWrite(const Access& access) {
    const llvm::SCEV* offset = offsetOf(*access.address);
    if (!offset)
      return;
    const llvm::Loop* loop = loops_.getLoopFor(access.instruction->getParent());
    const auto* moving = llvm::dyn_cast<llvm::SCEVAddRecExpr>(offset);
    if (!moving) {
      if (isFixed(*offset) && isFixed(*access.sizeBytes))
        writes_.push_back({access.instruction,
                           nullptr,
                           {offset, evolution_.getAddExpr(offset, access.sizeBytes)}});
      return;
    }
    const llvm::BasicBlock* exiting = loop ? loop->getExitingBlock() : nullptr;
    if (!exiting || moving->getLoop() != loop || !moving->isAffine() ||
        moving->getStepRecurrence(evolution_) != access.sizeBytes ||
        !tree_.dominates(access.instruction->getParent(), exiting))
      return;
    const llvm::SCEV* rounds = evolution_.getBackedgeTakenCount(loop);
    if (llvm::isa<llvm::SCEVCouldNotCompute>(rounds))
      return;
    const Range range = rangeOf(*moving, access.sizeBytes, wide(rounds));
    if (isFixed(*range.begin) && isFixed(*range.end))
      writes_.push_back({access.instruction, loop, range});
  }

  const llvm::SCEV* offsetOf(llvm::Value& address) {
    const llvm::SCEV* offset =
        evolution_.getMinusSCEV(evolution_.getSCEV(&address), evolution_.getSCEV(&variable_));
    if (llvm::isa<llvm::SCEVCouldNotCompute>(offset))
      return nullptr;
    return evolution_.getTruncateOrSignExtend(offset,
                                              llvm::Type::getInt64Ty(function_.getContext()));
  }

  Range rangeOf(const llvm::SCEVAddRecExpr& moving, const llvm::SCEV* sizeBytes,
                const llvm::SCEV* rounds) {
    const llvm::SCEV* distance =
        evolution_.getMulExpr(moving.getStepRecurrence(evolution_), rounds);
    return {moving.getStart(),
            evolution_.getAddExpr(evolution_.getAddExpr(moving.getStart(), distance), sizeBytes)};
  }

  /// The same in each round of every loop.
  bool isFixed(const llvm::SCEV& value) {
    return llvm::all_of(
        loops_, [&](const llvm::Loop* loop) { return evolution_.isLoopInvariant(&value, loop); });
  }

  /// Where nothing better is known, all of the variable: other addresses may not be read.
  Range rangeOf(const Access& read) {
    const Range all{
        number(0),
        number(
            variable_.getAllocationSize(variable_.getModule()->getDataLayout())->getFixedValue())};
    const llvm::SCEV* offset = offsetOf(*read.address);
    if (!offset)
      return all;
    Range range{offset, evolution_.getAddExpr(offset, read.sizeBytes)};
    if (const auto* moving = llvm::dyn_cast<llvm::SCEVAddRecExpr>(offset)) {
      const llvm::SCEV* rounds = evolution_.getBackedgeTakenCount(moving->getLoop());
      if (!moving->isAffine() || llvm::isa<llvm::SCEVCouldNotCompute>(rounds) ||
          !evolution_.isKnownPositive(moving->getStepRecurrence(evolution_)))
        return all;
      range = rangeOf(*moving, read.sizeBytes, wide(rounds));
    }
    return isFixed(*range.begin) && isFixed(*range.end) ? range : all;
  }

  bool isAtMost(const llvm::SCEV* left, const llvm::SCEV* right) {
    return evolution_.isKnownNonNegative(evolution_.getMinusSCEV(right, left));
  }

  bool isCovered(const Access& read) {
    const Range range = rangeOf(read);
    llvm::SmallVector<const Write*> before;
    for (const Write& write : writes_)
      if (comesBefore(write, *read.instruction))
        before.push_back(&write);
    const llvm::SCEV* reached = range.begin;
    while (!isAtMost(range.end, reached)) {
      const auto next = llvm::find_if(before, [&](const Write* write) {
        return isAtMost(write->range.begin, reached) && !isAtMost(write->range.end, reached);
      });
      if (next == before.end())
        return false;
      reached = (*next)->range.end;
      before.erase(next);
    }
    return true;
  }

  bool comesBefore(const Write& write, const llvm::Instruction& read) {
    if (!write.loop)
      return tree_.dominates(write.instruction, &read);
    if (write.loop->contains(&read))
      return false;
    const llvm::BasicBlock* header = write.loop->getHeader();
    return tree_.dominates(header, read.getParent()) || isGuardedAlike(*write.loop, read);
  }

  /// Whether what decides on the loop decides on the read, too: each is there if there is anything
  /// to go through.
  bool isGuardedAlike(const llvm::Loop& loop, const llvm::Instruction& read) {
    llvm::BasicBlock* block = loop.getLoopPredecessor();
    while (block && block->getSingleSuccessor() && block->getSinglePredecessor())
      block = block->getSinglePredecessor();
    const auto* guard = block ? llvm::dyn_cast<llvm::BranchInst>(block->getTerminator()) : nullptr;
    if (!guard || !guard->isConditional() || !tree_.dominates(first_, guard) ||
        !tree_.dominates(block, read.getParent()))
      return false;
    const bool isTrueInside =
        tree_.dominates(llvm::BasicBlockEdge(block, guard->getSuccessor(0)), loop.getHeader());
    return valueIn(*guard->getCondition(), *const_cast<llvm::BasicBlock*>(read.getParent()),
                   tree_) == isTrueInside;
  }

  llvm::AllocaInst& variable_;
  llvm::Function& function_;
  llvm::DominatorTree& tree_;
  llvm::LoopInfo loops_;
  llvm::AssumptionCache assumptions_;
  llvm::TargetLibraryInfoImpl libraryImpl_;
  llvm::TargetLibraryInfo library_;
  llvm::ScalarEvolution evolution_;
  const llvm::MemIntrinsic* first_ = nullptr;
  llvm::SmallVector<Access> reads_;
  llvm::SmallVector<Write> writes_;
};

} // namespace

bool isFilledBeforeRead(llvm::AllocaInst& variable, const llvm::MemIntrinsic& first,
                        llvm::DominatorTree& tree) {
  return Filling(variable, tree).isBeforeReads(first);
}

} // namespace mneme::passes
