#include "passes/unset_flow.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>

#include <optional>
#include <set>

namespace mneme::passes {
namespace {

using namespace llvm::PatternMatch;

// A value with more states, or a deeper condition, counts as observed.
constexpr size_t kMaxStates = 2000;
constexpr unsigned kMaxDepth = 4;

/// Conditions with their values.
using Facts = std::set<std::pair<llvm::Value*, bool>>;

/// Where the facts hold, the value depends on the unknown content.
struct State {
  llvm::Value* value;
  Facts facts;
  bool operator<(const State& other) const {
    return std::tie(value, facts) < std::tie(other.value, other.facts);
  }
};

class Flow {
public:
  Flow(const llvm::DominatorTree& tree, const llvm::DataLayout& layout)
      : tree_(tree), layout_(layout) {}

  bool leadsSomewhere(llvm::LoadInst& load) {
    go(&load, factsIn(*load.getParent()));
    while (!pending_.empty() && !isObserved_) {
      const State state = pending_.back();
      pending_.pop_back();
      for (llvm::Use& use : state.value->uses())
        follow(use, state.facts);
    }
    return isObserved_;
  }

  std::optional<bool> valueIn(llvm::Value& condition, llvm::BasicBlock& block) const {
    return valueOf(condition, factsIn(block), 0);
  }

private:
  void go(llvm::Value* value, Facts facts) {
    State state{value, std::move(facts)};
    if (!seen_.insert(state).second)
      return;
    isObserved_ |= seen_.size() > kMaxStates;
    pending_.push_back(std::move(state));
  }

  void follow(llvm::Use& use, const Facts& facts) {
    auto* user = llvm::cast<llvm::Instruction>(use.getUser());
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(user)) {
      followInto(*phi, *phi->getIncomingBlock(use), facts);
      return;
    }
    Facts there = facts;
    if (!add(there, factsIn(*user->getParent())))
      return;
    if (auto* select = llvm::dyn_cast<llvm::SelectInst>(user); select && use.getOperandNo() > 0) {
      if (add(there, {{select->getCondition(), use.getOperandNo() == 1}}))
        go(select, std::move(there));
    } else if (!llvm::isa<llvm::SelectInst>(user) && llvm::isSafeToSpeculativelyExecute(user) &&
               !user->mayReadOrWriteMemory()) {
      go(user, std::move(there)); // depends on nothing but its operands
    } else {
      isObserved_ = true;
    }
  }

  /// Facts about values of one iteration of a loop do not hold for those of the next.
  void followInto(llvm::PHINode& phi, llvm::BasicBlock& from, const Facts& facts) {
    llvm::BasicBlock& to = *phi.getParent();
    Facts before = facts;
    if (!add(before, factsIn(from)) || !add(before, factsOfEdge(from, to)))
      return;
    Facts behind;
    for (const auto& [condition, value] : before) {
      const auto* instruction = llvm::dyn_cast<llvm::Instruction>(condition);
      if (!instruction || tree_.properlyDominates(instruction->getParent(), &to))
        behind.emplace(condition, value);
    }
    for (llvm::PHINode& other : to.phis())
      if (other.getType()->isIntegerTy(1))
        if (const std::optional<bool> value =
                valueOf(*other.getIncomingValueForBlock(&from), before, 0))
          behind.emplace(&other, *value);
    go(&phi, std::move(behind));
  }

  Facts factsOfEdge(llvm::BasicBlock& from, llvm::BasicBlock& to) const {
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(from.getTerminator());
    if (!branch || !branch->isConditional() || branch->getSuccessor(0) == branch->getSuccessor(1))
      return {};
    return {{branch->getCondition(), branch->getSuccessor(0) == &to}};
  }

  /// Returns the conditions that hold wherever the block is reached.
  Facts factsIn(llvm::BasicBlock& block) const {
    Facts facts;
    const llvm::DomTreeNode* node = tree_.getNode(&block);
    for (node = node ? node->getIDom() : nullptr; node; node = node->getIDom()) {
      const auto* branch = llvm::dyn_cast<llvm::BranchInst>(node->getBlock()->getTerminator());
      if (!branch || !branch->isConditional() || branch->getSuccessor(0) == branch->getSuccessor(1))
        continue;
      for (const unsigned side : {0u, 1u})
        if (tree_.dominates(llvm::BasicBlockEdge(node->getBlock(), branch->getSuccessor(side)),
                            &block))
          facts.emplace(branch->getCondition(), side == 0);
    }
    return facts;
  }

  /// Adds facts. Returns false if they contradict those that are known.
  bool add(Facts& facts, const Facts& more) const {
    for (const auto& [condition, value] : more)
      if (const std::optional<bool> known = valueOf(*condition, facts, 0); known && *known != value)
        return false;
    facts.insert(more.begin(), more.end());
    return true;
  }

  std::optional<bool> valueOf(llvm::Value& condition, const Facts& facts, unsigned depth) const {
    if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(&condition))
      return constant->isOne();
    for (const auto& [fact, value] : facts) {
      if (fact == &condition)
        return value;
      if (const std::optional<bool> implied =
              llvm::isImpliedCondition(fact, &condition, layout_, value))
        return implied;
    }
    llvm::Value *left = nullptr, *right = nullptr;
    if (depth == kMaxDepth)
      return std::nullopt;
    if (match(&condition, m_Not(m_Value(left)))) {
      const std::optional<bool> value = valueOf(*left, facts, depth + 1);
      return value ? std::optional(!*value) : std::nullopt;
    }
    const bool isAnd = match(&condition, m_LogicalAnd(m_Value(left), m_Value(right)));
    if (!isAnd && !match(&condition, m_LogicalOr(m_Value(left), m_Value(right))))
      return std::nullopt;
    const std::optional<bool> first = valueOf(*left, facts, depth + 1);
    const std::optional<bool> second = valueOf(*right, facts, depth + 1);
    if (first == !isAnd || second == !isAnd) // a false operand decides an and, a true one an or
      return !isAnd;
    return first && second ? std::optional(isAnd) : std::nullopt;
  }

  const llvm::DominatorTree& tree_;
  const llvm::DataLayout& layout_;
  std::set<State> seen_;
  llvm::SmallVector<State> pending_;
  bool isObserved_ = false;
};

} // namespace

std::optional<bool> valueIn(llvm::Value& condition, llvm::BasicBlock& block,
                            const llvm::DominatorTree& tree) {
  return Flow(tree, block.getModule()->getDataLayout()).valueIn(condition, block);
}

bool isDependedOn(llvm::LoadInst& load, const llvm::DominatorTree& tree) {
  return Flow(tree, load.getModule()->getDataLayout()).leadsSomewhere(load);
}

} // namespace mneme::passes
