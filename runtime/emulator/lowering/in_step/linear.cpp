#include "runtime/emulator/lowering/in_step/linear.h"

#include <algorithm>
#include <utility>

#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

using namespace llvm;

namespace mneme::compile::cpu::in_step {
namespace {

constexpr size_t kMostTerms = 8;
constexpr size_t kMostFactors = 3;
constexpr unsigned kDeepest = 64;
constexpr int64_t kLargest = int64_t{1} << 40; // beyond, factors say nothing a kernel could mean
constexpr const char* kAxes[] = {".x", ".y", ".z"};

std::optional<int64_t> numberOf(const Sum& sum) {
  if (sum.empty())
    return 0;
  if (sum.size() == 1 && sum.begin()->first.empty())
    return sum.begin()->second;
  return std::nullopt;
}

Sum single(Leaf leaf) { return {{{leaf}, 1}}; }

} // namespace

void add(Sum& sum, const Sum& other, int64_t factor) {
  for (const auto& [product, count] : other) {
    int64_t& total = sum[product];
    total += count * factor;
    if (total == 0)
      sum.erase(product);
  }
}

Sum constant(int64_t number) { return number ? Sum{{{}, number}} : Sum{}; }

Sums::Sums(Function& kernel, unsigned warpSize, const DominatorTree& dominators)
    : warpSize_(warpSize), divergence_(kernel, dominators) {
  for (const Instruction& instruction : instructions(kernel))
    for (unsigned axis = 0; axis < 3; ++axis)
      if (registerName(instruction) == std::string("tid") + kAxes[axis] && !instruction.use_empty())
        uses_[axis] = true;
}

const Sum& Sums::of(Value* value) {
  if (const auto found = known_.find(value); found != known_.end())
    return found->second;
  Sum sum = ++depth_ > kDeepest ? opaque(value) : compute(value);
  --depth_;
  const bool isHuge = any_of(
      sum, [](const auto& term) { return term.second > kLargest || term.second < -kLargest; });
  return known_[value] = isHuge ? opaque(value) : std::move(sum);
}

Sum Sums::compute(Value* value) {
  if (auto* number = dyn_cast<ConstantInt>(value))
    return number->getBitWidth() <= 64 ? constant(number->getSExtValue()) : opaque(value);
  auto* instruction = dyn_cast<Instruction>(value);
  if (!instruction)
    return opaque(value);
  if (const StringRef name = registerName(*instruction); !name.empty())
    return ofRegister(*instruction, name);
  return ofOperation(*instruction);
}

Sum Sums::ofOperation(Instruction& instruction) {
  const auto operand = [&](unsigned index) -> Sum { return of(instruction.getOperand(index)); };
  switch (instruction.getOpcode()) {
  case Instruction::Add:
  case Instruction::Sub: {
    Sum sum = operand(0);
    add(sum, operand(1), instruction.getOpcode() == Instruction::Add ? 1 : -1);
    return sum;
  }
  case Instruction::Mul:
    return product(operand(0), operand(1), instruction);
  case Instruction::Shl:
    if (const auto amount = numberOf(operand(1)); amount && *amount >= 0 && *amount < 32)
      return product(operand(0), constant(int64_t{1} << *amount), instruction);
    return opaque(&instruction);
  case Instruction::SExt:
  case Instruction::ZExt:
  case Instruction::Trunc:
  case Instruction::Freeze:
    if (instruction.getOperand(0)->getType()->isIntegerTy(1) ||
        instruction.getType()->getScalarSizeInBits() < 16 || !instruction.getType()->isIntegerTy())
      return opaque(&instruction);
    return operand(0);
  case Instruction::UDiv:
  case Instruction::SDiv:
    return quotient(instruction, operand(0), operand(1));
  case Instruction::URem:
  case Instruction::SRem:
    return remainder(instruction, operand(0), operand(1));
  case Instruction::LShr:
  case Instruction::AShr:
    if (const auto amount = numberOf(operand(1)); amount && *amount >= 0 && *amount < 32)
      return quotient(instruction, operand(0), constant(int64_t{1} << *amount));
    return opaque(&instruction);
  case Instruction::And:
    return masked(instruction, operand(0), operand(1));
  case Instruction::Or:
    if (cast<PossiblyDisjointInst>(instruction).isDisjoint()) {
      Sum sum = operand(0);
      add(sum, operand(1));
      return sum;
    }
    return opaque(&instruction);
  case Instruction::PHI:
    if (Sum sum; countsEvenly(cast<PHINode>(instruction), sum))
      return sum;
    return opaque(&instruction);
  default:
    return opaque(&instruction);
  }
}

Sum Sums::product(const Sum& a, const Sum& b, Instruction& instruction) {
  Sum result;
  for (const auto& [left, leftCount] : a)
    for (const auto& [right, rightCount] : b) {
      Product both = left;
      both.insert(both.end(), right.begin(), right.end());
      std::sort(both.begin(), both.end());
      if (both.size() > kMostFactors || std::abs(leftCount) > kLargest ||
          std::abs(rightCount) > kLargest / std::max<int64_t>(1, std::abs(leftCount)))
        return opaque(&instruction);
      add(result, {{both, 1}}, leftCount * rightCount);
    }
  return result.size() > kMostTerms ? opaque(&instruction) : result;
}

Leaf Sums::quotientLeaf(const Sum& value, const Sum& divisor, const Instruction* at) {
  const auto [place, isNew] = quotients_.try_emplace({value, divisor}, Leaf(leaves_.size()));
  const Leaf leaf = place->second;
  if (!isNew)
    return leaf;
  LeafFacts facts;
  facts.value = at;
  facts.isAlike = at && !divergence_.contains(at);
  facts.isCount = true;
  Sum whole;
  for (const auto& [product, count] : divisor) {
    Product with = product;
    with.insert(std::upper_bound(with.begin(), with.end(), leaf), leaf);
    add(whole, {{with, count}});
  }
  Sum rest = value;
  add(rest, whole, -1);
  facts.notNegative.push_back(rest); // value - divisor * quotient >= 0
  Sum above = divisor;
  add(above, rest, -1);
  add(above, constant(1), -1);
  facts.notNegative.push_back(above);
  facts.notNegative.push_back(single(leaf));
  leaves_.push_back(std::move(facts));
  return leaf;
}

Sum Sums::quotient(Instruction& instruction, const Sum& dividend, const Sum& divisor) {
  const auto number = numberOf(divisor);
  if (number && *number == 1)
    return dividend;
  const bool isSimple = number ? *number > 0 : divisor.size() == 1 && divisor.begin()->second == 1;
  if (!isSimple)
    return opaque(&instruction);
  if (number && *number == warpSize_ && dividend == thread())
    return single(warp());
  return single(quotientLeaf(dividend, divisor, &instruction));
}

Sum Sums::remainder(Instruction& instruction, const Sum& dividend, const Sum& divisor) {
  const Sum whole = quotient(instruction, dividend, divisor);
  if (opaque_.contains(&instruction))
    return opaque(&instruction);
  Sum sum = dividend;
  for (const auto& [product, count] : divisor)
    for (const auto& [leaf, one] : whole) {
      Product with = product;
      with.insert(with.end(), leaf.begin(), leaf.end());
      std::sort(with.begin(), with.end());
      add(sum, {{with, count * one}}, -1);
    }
  return sum;
}

/// x & 7 and, with a power of two that is known when the kernel is launched, x & (size - 1).
Sum Sums::masked(Instruction& instruction, const Sum& value, const Sum& mask) {
  if (const auto number = numberOf(mask))
    return *number > 0 && isPowerOf2_64(*number + 1)
               ? remainder(instruction, value, constant(*number + 1))
               : opaque(&instruction);
  Sum size = mask;
  add(size, constant(1));
  const bool isGiven =
      size.size() == 1 && size.begin()->second == 1 && all_of(size.begin()->first, [&](Leaf leaf) {
        return leaves_[leaf].isAlike && !isa_and_nonnull<PHINode>(leaves_[leaf].value);
      });
  return isGiven ? remainder(instruction, value, size) : opaque(&instruction);
}

Leaf Sums::launchLeaf(StringRef name, int64_t least) {
  const auto [place, isNew] = named_.try_emplace(name.str(), Leaf(leaves_.size()));
  if (isNew) {
    LeafFacts facts;
    facts.isAlike = true;
    facts.isSize = least == 1;
    facts.isCount = true;
    Sum rest = single(place->second);
    add(rest, constant(least), -1);
    facts.notNegative.push_back(rest);
    leaves_.push_back(std::move(facts));
  }
  return place->second;
}

Leaf Sums::threadIndex(unsigned axis) {
  const std::string name = std::string("tid") + kAxes[axis];
  const bool isNew = !named_.contains(name);
  const Leaf leaf = launchLeaf(name, 0);
  if (isNew) {
    const Leaf size = launchLeaf(std::string("ntid") + kAxes[axis], 1);
    leaves_[leaf].isThread = true;
    leaves_[leaf].isAlike = false;
    Sum below = single(size);
    add(below, single(leaf), -1);
    add(below, constant(1), -1);
    leaves_[leaf].notNegative.push_back(below);
  }
  return leaf;
}

Sum Sums::thread() {
  Sum sum = single(threadIndex(0));
  Product size;
  for (unsigned axis = 1; axis < 3; ++axis) {
    size.push_back(launchLeaf(std::string("ntid") + kAxes[axis - 1], 1));
    if (!uses_[axis])
      continue;
    Product row = size;
    row.push_back(threadIndex(axis));
    std::sort(row.begin(), row.end());
    add(sum, {{row, 1}});
  }
  return sum;
}

Leaf Sums::warp() {
  const Leaf leaf = quotientLeaf(thread(), constant(warpSize_), nullptr);
  leaves_[leaf].isAlike = true;
  return leaf;
}

Sum Sums::ofRegister(Instruction& call, StringRef name) {
  for (unsigned axis = 0; axis < 3; ++axis)
    if (name == std::string("tid") + kAxes[axis])
      return single(threadIndex(axis));
  if (name == "warpid")
    return single(warp());
  if (name == "warpsize")
    return constant(warpSize_);
  if (name == "laneid") {
    Sum sum = thread();
    add(sum, single(warp()), -int64_t(warpSize_));
    return sum;
  }
  if (divergence_.contains(&call))
    return opaque(&call);
  return single(launchLeaf(name, name.starts_with("ntid") || name.starts_with("nctaid")));
}

/// A counter that only grows is never below where it begins.
Sum Sums::boundOfPhi(PHINode& phi) {
  if (phi.getNumIncomingValues() != 2)
    return {};
  for (unsigned from = 0; from < 2; ++from) {
    auto* step = dyn_cast<BinaryOperator>(phi.getIncomingValue(1 - from));
    auto* begin = dyn_cast<ConstantInt>(phi.getIncomingValue(from));
    if (!step || !begin || begin->getBitWidth() > 64 || !is_contained(step->operands(), &phi))
      continue;
    auto* by = dyn_cast<ConstantInt>(step->getOperand(1));
    const bool grows = (step->getOpcode() == Instruction::Add && by && by->getSExtValue() > 0) ||
                       step->getOpcode() == Instruction::Shl;
    if (!grows || begin->getSExtValue() < 0)
      continue;
    Sum bound = single(opaque_[&phi]);
    add(bound, constant(begin->getSExtValue()), -1);
    return bound;
  }
  return {};
}

/// for (i = first; ...; i += step): the first value, and a step for each iteration so far, whose
/// number is the same in threads that are together.
bool Sums::countsEvenly(PHINode& phi, Sum& sum) {
  if (phi.getNumIncomingValues() != 2 || !divergence_.contains(&phi) || opaque_.contains(&phi))
    return false;
  for (unsigned from = 0; from < 2; ++from) {
    auto* next = dyn_cast<BinaryOperator>(phi.getIncomingValue(1 - from));
    if (!next || next->getOpcode() != Instruction::Add || !is_contained(next->operands(), &phi))
      continue;
    Value* step = next->getOperand(next->getOperand(0) == &phi ? 1 : 0);
    if (step == &phi || divergence_.contains(step))
      continue;
    opaque_[&phi] = Leaf(leaves_.size()); // stands for the number from here on
    LeafFacts facts;
    facts.value = &phi;
    facts.isAlike = facts.isCount = true;
    facts.notNegative.push_back(single(Leaf(leaves_.size())));
    leaves_.push_back(std::move(facts));
    const Sum number = single(opaque_[&phi]);
    sum = of(phi.getIncomingValue(from));
    add(sum, product(of(step), number, *next));
    return true;
  }
  return false;
}

Sum Sums::opaque(Value* value) {
  const auto [place, isNew] = opaque_.try_emplace(value, Leaf(leaves_.size()));
  const Leaf leaf = place->second;
  if (!isNew)
    return single(leaf);
  LeafFacts facts;
  facts.value = dyn_cast<Instruction>(value);
  facts.isAlike = !divergence_.contains(value);
  leaves_.push_back(std::move(facts));
  if (auto* phi = dyn_cast<PHINode>(value))
    if (Sum bound = boundOfPhi(*phi); !bound.empty()) {
      leaves_[leaf].notNegative.push_back(std::move(bound));
      leaves_[leaf].isCount = true;
    }
  return single(leaf);
}

} // namespace mneme::compile::cpu::in_step
