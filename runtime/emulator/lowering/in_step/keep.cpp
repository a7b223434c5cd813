// A step of the lowering (steps.h): code that counts on the lanes of a warp going in step.
//
// On GPUs before 2017, and on most since where the compiler leaves code as it is, all lanes of a
// warp that are together load before one of them stores, and have stored before one of them loads
// again. Here a thread runs on to where it has to wait. So where a lane may read, with no barrier
// in between, what another lane of its warp has written, lanes wait for those they are together
// with before the store and behind it, as at an operation of a wave.
#include <cstddef>

#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>

#include "runtime/core/abi/cpu_image.h"
#include "runtime/emulator/lowering/amdgcn/amdgcn.h"
#include "runtime/emulator/lowering/in_step/in_step_access.h"
#include "runtime/emulator/lowering/meetings.h"
#include "runtime/emulator/lowering/steps.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

using in_step::Access;

/// Beyond so many pairs the rest is taken for what may meet: slow, but right.
constexpr unsigned kMostPairs = 4000;

/// Ways through the kernel on which no threads meet.
class Ways {
public:
  Ways(Function& kernel, ArrayRef<Access> accesses) {
    SmallPtrSet<const Instruction*, 16> meetings;
    Module& module = *kernel.getParent();
    for (const size_t offset : concat<const size_t>(kBlockServices, kWarpServices))
      if (Function* service = module.getFunction(kServicePrefix + std::to_string(offset)))
        for (User* user : service->users())
          meetings.insert(cast<Instruction>(user));
    count_ = unsigned(accesses.size());
    places_.resize(count_);
    unsigned next = 0; // accesses come in the order of the function
    for (BasicBlock& block : kernel)
      next = cut(block, accesses, next, meetings);
    spread(kernel);
  }

  /// Accesses that a thread may come to behind this one.
  BitVector behind(unsigned access) const {
    const Place& place = places_[access];
    BitVector found(count_);
    found.set(place.next, place.end);
    if (place.leaves)
      for (const BasicBlock* next : successors(place.block))
        found |= reached_.at(next);
    return found;
  }

  using Blocks = SmallPtrSet<const BasicBlock*, 32>;
  /// Blocks that a thread may enter behind this access.
  const Blocks& entered(unsigned access) {
    const Place& place = places_[access];
    if (!place.leaves)
      return none_;
    const auto [known, isNew] = entered_.try_emplace(place.block);
    if (!isNew)
      return known->second;
    SmallVector<const BasicBlock*> work(successors(place.block));
    while (!work.empty()) {
      const BasicBlock* block = work.pop_back_val();
      if (known->second.insert(block).second && !holdsMeeting_.contains(block))
        append_range(work, successors(block));
    }
    return known->second;
  }

  bool leads(const BasicBlock* block, unsigned access) const {
    const auto found = reached_.find(block);
    return found != reached_.end() && found->second.test(access);
  }

private:
  struct Place {
    const BasicBlock* block = nullptr;
    unsigned next = 0, end = 0; ///< accesses of the block behind it, up to where threads meet
    bool leaves = true;         ///< no threads meet behind it in the block
  };

  /// Cuts a block where threads meet. Returns the number of the first access behind it.
  unsigned cut(BasicBlock& block, ArrayRef<Access> accesses, unsigned first,
               const SmallPtrSetImpl<const Instruction*>& meetings) {
    unsigned begin = first, end = first;
    BitVector& reached = reached_[&block];
    reached.resize(count_);
    const auto close = [&](bool leaves) {
      for (unsigned access = begin; access < end; ++access)
        places_[access].end = end, places_[access].leaves = leaves;
      if (!holdsMeeting_.contains(&block))
        reached.set(begin, end);
      begin = end;
    };
    for (Instruction& instruction : block) {
      if (meetings.contains(&instruction) || instruction.hasMetadata(kIndivisibleMetadata)) {
        close(false);
        holdsMeeting_.insert(&block);
      }
      const unsigned own = end;
      while (end < count_ && accesses[end].instruction == &instruction)
        ++end;
      for (unsigned access = own; access < end; ++access)
        places_[access].block = &block, places_[access].next = end;
    }
    close(true);
    return end;
  }

  void spread(Function& kernel) {
    for (bool hasGrown = true; hasGrown;) {
      hasGrown = false;
      for (BasicBlock& block : reverse(kernel)) {
        if (holdsMeeting_.contains(&block))
          continue;
        BitVector& reached = reached_[&block];
        const BitVector before = reached;
        for (const BasicBlock* next : successors(&block))
          reached |= reached_.at(next);
        hasGrown |= reached != before;
      }
    }
  }

  unsigned count_ = 0;
  std::vector<Place> places_; ///< of each access
  SmallPtrSet<const BasicBlock*, 16> holdsMeeting_;
  DenseMap<const BasicBlock*, BitVector> reached_;
  DenseMap<const BasicBlock*, Blocks> entered_;
  const Blocks none_;
};

/// Finds where lanes must wait for each other.
class Search {
public:
  Search(Function& kernel, unsigned warpSize)
      : dominators_(kernel), sums_(kernel, warpSize, dominators_),
        accesses_(in_step::findAccesses(kernel, sums_, dominators_)), ways_(kernel, accesses_),
        meeting_(sums_) {}

  void run() {
    if (none_of(accesses_, [](const Access& access) { return access.writes; }))
      return;
    for (unsigned first = 0; first < accesses_.size(); ++first)
      if (accesses_[first].writes)
        searchBehind(first);
    for (unsigned first = 0; first < accesses_.size(); ++first)
      if (!accesses_[first].writes)
        searchBehind(first);
  }

  ArrayRef<Instruction*> before() const { return before_.getArrayRef(); }
  ArrayRef<Instruction*> after() const { return after_.getArrayRef(); }

private:
  void searchBehind(unsigned first) {
    const Access& one = accesses_[first];
    const auto& entered = ways_.entered(first);
    const BitVector behind = ways_.behind(first);
    for (const unsigned second : behind.set_bits()) {
      const Access& other = accesses_[second];
      if ((!one.writes && !other.writes) || one.isShared != other.isShared || isFound(one, other))
        continue;
      const auto isRenewed = [&](const Instruction& value) {
        return entered.contains(value.getParent()) && ways_.leads(value.getParent(), second);
      };
      if (mustWait(one, other, isRenewed))
        note(one, other);
    }
  }

  /// What is written and then read needs only to be possible; other orders, which code with
  /// barriers on both sides has often, and memory of the device must be certain.
  bool mustWait(const Access& one, const Access& other,
                function_ref<bool(const Instruction&)> isRenewed) {
    const bool isReadBack = one.writes && !other.writes;
    if (isReadBack && one.isShared)
      return ++pairs_ > kMostPairs || meeting_.isPossible(one, other, isRenewed);
    return (one.isShared || isReadBack || !after_.empty()) &&
           meeting_.isCertain(one, other, isRenewed);
  }

  bool isFound(const Access& one, const Access& other) const {
    if (one.writes && !other.writes)
      return after_.contains(one.instruction) &&
             (hasPassed(one, other) || before_.contains(other.instruction));
    return before_.contains(other.instruction);
  }

  /// Whether lanes that come to the second have all been at the first. Others wait for those that
  /// have gone there, as at the place where their ways meet again.
  bool hasPassed(const Access& one, const Access& other) const {
    return dominators_.dominates(one.instruction, other.instruction);
  }

  void note(const Access& one, const Access& other) {
    if (!one.writes || other.writes) {
      before_.insert(other.instruction);
      return;
    }
    before_.insert(one.instruction);
    after_.insert(one.instruction);
    if (!hasPassed(one, other))
      before_.insert(other.instruction);
  }

  DominatorTree dominators_;
  in_step::Sums sums_;
  std::vector<Access> accesses_;
  Ways ways_;
  in_step::Meeting meeting_;
  unsigned pairs_ = 0;
  SmallSetVector<Instruction*, 16> before_, after_;
};

void waitAt(Instruction& position) {
  Emit emit(position);
  waveOperation(emit, MNEME_WAVE_SYNC, emit.getInt64(0), emit.getInt32(0));
}

} // namespace

bool keepInStep(Function& kernel, unsigned warpSize) {
  Search search(kernel, warpSize);
  search.run();
  for (Instruction* instruction : search.before())
    waitAt(*instruction);
  for (Instruction* instruction : search.after())
    waitAt(*instruction->getNextNode());
  return !search.before().empty();
}

} // namespace mneme::compile::cpu
