// Whether two lanes of a warp can touch the same bytes (in_step_access.h): a question of integer
// inequalities, answered by elimination.
#include <algorithm>
#include <numeric>
#include <set>

#include <llvm/IR/GlobalVariable.h>

#include "runtime/emulator/lowering/in_step/in_step_access.h"
#include "runtime/emulator/lowering/in_step/inequalities.h"

using namespace llvm;

namespace mneme::compile::cpu::in_step {
namespace {

constexpr size_t kMostMultiples = 3;
constexpr unsigned kMostVariables = 48;
/// Beyond so much work, about a third of a second, the rest is taken for what may meet.
constexpr uint64_t kMostWork = 50'000'000;
enum Side : unsigned { First, Second, Both };
using Renewed = function_ref<bool(const Instruction&)>;

/// The inequalities of one question.
class Question {
public:
  Question(Sums& sums, Renewed isRenewed, uint64_t& work)
      : sums_(sums), isRenewed_(isRenewed), spent_(work) {}

  /// The sum is not below zero for the lane of this side.
  void assume(const Sum& sum, Side side) { assume(rowOf(sum, side)); }

  void touchSameBytes(const Access& first, const Access& second) {
    Row row = rowOf(second.offset, Second);
    addTo(row, rowOf(first.offset, First), -1); // second - first
    difference_ = row;
    Row below = row;
    below[0] += second.bytes - 1; // second's last byte is not before first's first
    assume(std::move(below));
    Row above;
    addTo(above, row, -1);
    above[0] += first.bytes - 1;
    assume(std::move(above));
  }

  /// What is known of the values met so far, and of those that come with it.
  void assumeFacts() {
    for (unsigned axis = 0; axis < 3; ++axis)
      if (sums_.usesAxis(axis))
        for (const Side side : {First, Second})
          variable({sums_.threadIndex(axis)}, side);
    while (!work_.empty()) {
      const Leaf leaf = *work_.begin();
      work_.erase(work_.begin());
      const std::vector<Sum> facts = sums_.facts(leaf).notNegative;
      for (const Sum& fact : facts) {
        assume(fact, First);
        assume(fact, Second);
      }
      if (work_.empty())
        addFactors();
    }
    const auto variables = variables_;
    for (const auto& [key, variable] : variables)
      if (const auto least = leastOf(key.first))
        assume({{0, -*least}, {variable, 1}});
  }

  /// Whether the lanes can be two.
  bool mayBeTwo() {
    if (variables_.size() > kMostVariables)
      return true;
    findMultiples();
    return chooseMultiple(0);
  }

private:
  using Row = Inequality;

  bool isCommon(Leaf leaf) const {
    const LeafFacts& facts = sums_.facts(leaf);
    return facts.isAlike && (!facts.value || !isRenewed_(*facts.value));
  }

  /// Returns a lower bound, 0 or 1, of a product that cannot be negative.
  std::optional<int64_t> leastOf(const Product& product) const {
    if (product.size() < 2)
      return std::nullopt;
    const auto isOf = [&](bool LeafFacts::* kind) {
      return [this, kind](Leaf leaf) { return sums_.facts(leaf).*kind; };
    };
    if (all_of(product, isOf(&LeafFacts::isSize)))
      return 1;
    const bool isRow =
        any_of(product, isOf(&LeafFacts::isThread)) &&
        all_of(product, [&](Leaf leaf) { return sums_.facts(leaf).isThread || isCommon(leaf); });
    return isRow || all_of(product, isOf(&LeafFacts::isCount)) ? std::optional<int64_t>(0)
                                                               : std::nullopt;
  }

  /// What products are ordered by.
  void addFactors() {
    const auto variables = variables_;
    for (const auto& [key, number] : variables)
      for (size_t at = 0; key.first.size() > 1 && at < key.first.size(); ++at) {
        if (isCommon(key.first[at]))
          continue;
        Product factor = key.first;
        factor.erase(factor.begin() + int64_t(at));
        for (const Side side : {First, Second})
          variable({key.first[at]}, side);
        if (all_of(factor, [&](Leaf leaf) { return isCommon(leaf); }))
          variable(factor, Both);
      }
  }

  unsigned variable(const Product& product, Side side) {
    if (all_of(product, [&](Leaf leaf) { return isCommon(leaf); }))
      side = Both;
    const auto [place, isNew] =
        variables_.try_emplace({product, side}, unsigned(variables_.size() + 1));
    if (isNew)
      for (const Leaf leaf : product)
        if (seen_.insert(leaf).second)
          work_.insert(leaf);
    return place->second;
  }

  Row rowOf(const Sum& sum, Side side) {
    Row row;
    for (const auto& [product, count] : sum)
      row[product.empty() ? 0 : variable(product, side)] += count;
    return row;
  }

  static void addTo(Row& row, const Row& other, int64_t factor) {
    for (const auto& [variable, count] : other)
      row[variable] += count * factor;
  }

  void assume(Row row) { rows_.push_back(std::move(row)); }

  /// second's leaf - first's, times `sign`, is at least `least`; and so for products with it.
  void order(Leaf leaf, int sign) {
    std::set<Product> products;
    for (const auto& [key, variable] : variables_)
      if (key.second != Both && std::count(key.first.begin(), key.first.end(), leaf) == 1 &&
          all_of(key.first, [&](Leaf other) { return other == leaf || isCommon(other); }))
        products.insert(key.first);
    products.insert({leaf});
    for (const Product& product : products) {
      Product factor = product;
      factor.erase(std::find(factor.begin(), factor.end(), leaf));
      Row row = {{variable(product, Second), sign ? sign : 1}};
      addTo(row, {{variable(product, First), 1}}, sign ? -sign : -1);
      if (sign) {
        const unsigned by = factor.empty() ? 0 : variable(factor, Both);
        addTo(row, {{by, 1}}, -1);
        assume(row);
        if (by) // what an index is multiplied by is a size
          assume({{0, -1}, {by, 1}});
        continue;
      }
      Row opposite;
      addTo(opposite, row, -1);
      assume(row);
      assume(opposite);
    }
  }

  /// A part of the difference between the addresses that is an integer times a size: none, or at
  /// least one of it in either direction.
  struct Multiple {
    Row part, count;
    int64_t unit = 0; ///< of `count`, and of the size in `part`
    unsigned size = 0;
  };

  void findMultiples() {
    std::map<Product, Multiple> found;
    const auto variables = variables_;
    for (const auto& [key, number] : variables) {
      const auto& [product, side] = key;
      const auto term = difference_.find(number);
      if (side == Both || product.size() < 2 || term == difference_.end() || term->second == 0)
        continue;
      Product size;
      Leaf counter = 0;
      for (const Leaf leaf : product)
        isCommon(leaf) ? size.push_back(leaf) : void(counter = leaf);
      if (size.size() + 1 != product.size())
        continue;
      Multiple& multiple = found[size];
      multiple.part[number] = term->second;
      multiple.count[variable({counter}, side)] += term->second;
      multiple.unit = std::gcd(multiple.unit, term->second);
    }
    for (auto& [size, multiple] : found) {
      multiple.size = variable(size, Both);
      if (const auto whole = difference_.find(multiple.size); whole != difference_.end()) {
        multiple.part[multiple.size] = whole->second;
        multiple.count[0] += whole->second;
        multiple.unit = std::gcd(multiple.unit, whole->second);
      }
      if (multiples_.size() < kMostMultiples)
        multiples_.push_back(multiple);
    }
  }

  bool chooseMultiple(size_t index) {
    if (index == multiples_.size())
      return chooseThreads(0, false);
    const Multiple& multiple = multiples_[index];
    for (const int sign : {0, 1, -1}) {
      const size_t before = rows_.size();
      for (const bool isPart : {true, false}) {
        Row row;
        addTo(row, isPart ? multiple.part : multiple.count, sign ? sign : 1);
        if (sign)
          row[isPart ? multiple.size : 0] -= multiple.unit;
        assume(row);
        if (sign == 0) {
          Row opposite;
          addTo(opposite, row, -1);
          assume(opposite);
        }
      }
      assume({{0, -1}, {multiple.size, 1}}); // what an index is multiplied by is a size
      const bool may = chooseMultiple(index + 1);
      rows_.resize(before);
      if (may)
        return true;
    }
    return false;
  }

  bool chooseThreads(unsigned axis, bool isTwo) {
    if (axis == 3)
      return isTwo && (spent_ > kMostWork || mayHold(rows_, spent_));
    if (!sums_.usesAxis(axis))
      return chooseThreads(axis + 1, isTwo);
    for (const int sign : {0, 1, -1}) {
      const size_t before = rows_.size();
      order(sums_.threadIndex(axis), sign);
      const bool may = chooseThreads(axis + 1, isTwo || sign != 0);
      rows_.resize(before);
      if (may)
        return true;
    }
    return false;
  }

  Sums& sums_;
  Renewed isRenewed_;
  uint64_t& spent_;
  std::map<std::pair<Product, Side>, unsigned> variables_;
  std::set<Leaf> work_, seen_;
  std::vector<Row> rows_;
  Row difference_; ///< between the addresses, second - first
  std::vector<Multiple> multiples_;
};

bool mayShareObject(const Access& first, const Access& second) {
  const auto isDynamic = [](const Value* object) {
    auto* variable = dyn_cast<GlobalVariable>(object);
    return variable && variable->isDeclaration();
  };
  if (any_of(first.objects, [&](const Value* object) { return second.objects.contains(object); }))
    return true;
  return first.isShared && second.isShared && any_of(first.objects, isDynamic) &&
         any_of(second.objects, isDynamic);
}

} // namespace

/// Parts of an array that belong to one thread each, `index * size + something`, where nothing says
/// how large it is: the height of a stack, or what is in memory. What is made of the index itself
/// may lead into another thread's part.
bool Meeting::isOwnPart(const Access& first, const Access& second) const {
  Sum threads[2];
  bool hasUnknown = false;
  for (const auto& [access, own] : {std::pair{&first, &threads[0]}, {&second, &threads[1]}})
    for (const auto& [product, count] : access->offset) {
      if (any_of(product, [&](Leaf leaf) { return sums_.facts(leaf).isThread; })) {
        (*own)[product] = count;
        continue;
      }
      for (const Leaf leaf : product) {
        const LeafFacts& facts = sums_.facts(leaf);
        if (facts.isAlike)
          continue;
        if (!facts.value || !(isa<PHINode>(facts.value) || facts.value->mayReadOrWriteMemory()) ||
            count < 0)
          return false;
        hasUnknown = true;
      }
    }
  const bool isWide = any_of(threads[0], [&](const auto& term) {
    return term.first.size() > 1 || term.second > std::max(first.bytes, second.bytes);
  });
  return hasUnknown && isWide && threads[0] == threads[1];
}

bool Meeting::isPossible(const Access& first, const Access& second,
                         function_ref<bool(const Instruction&)> isRenewed) {
  if (!mayShareObject(first, second))
    return false;
  const bool isSameBase =
      first.base == second.base && (!isa<Instruction>(first.base) || isa<LoadInst>(first.base) ||
                                    !isRenewed(*cast<Instruction>(first.base)));
  if (isSameBase && isOwnPart(first, second))
    return false;
  const auto [known, isNew] = answers_.try_emplace(keyOf(first, second, isSameBase, isRenewed));
  if (isNew)
    known->second = mayMeet(first, second, isSameBase, isRenewed);
  return known->second;
}

bool Meeting::mayMeet(const Access& first, const Access& second, bool isSameBase,
                      function_ref<bool(const Instruction&)> isRenewed) {
  Question question(sums_, isRenewed, work_);
  if (isSameBase)
    question.touchSameBytes(first, second);
  for (const Sum& fact : first.notNegative)
    question.assume(fact, First);
  for (const Sum& fact : second.notNegative)
    question.assume(fact, Second);
  question.assume({{{sums_.warp()}, 1}}, First);
  question.assumeFacts();
  return question.mayBeTwo();
}

/// All that the answer depends on: constants in the offsets only by their difference.
std::vector<int64_t> Meeting::keyOf(const Access& first, const Access& second, bool isSameBase,
                                    function_ref<bool(const Instruction&)> isRenewed) const {
  std::vector<int64_t> key{isSameBase, first.facts, second.facts};
  if (isSameBase)
    key.insert(key.end(), {first.form, second.form, first.bytes, second.bytes,
                           second.displacement - first.displacement});
  for (Leaf leaf = 0; leaf < sums_.leafCount(); ++leaf)
    if (const LeafFacts& facts = sums_.facts(leaf);
        facts.isAlike && facts.value && isRenewed(*facts.value))
      key.push_back(leaf);
  return key;
}

/// Whether lanes of one warp at a constant distance, which is not 0, find the same bytes, as far as
/// the two offsets say.
bool Meeting::mayBeApart(const Access& first, const Access& second) const {
  const int64_t stride = first.offset.at({sums_.threadIndex(0)});
  const int64_t between = second.displacement - first.displacement;
  const int64_t most = int64_t(sums_.warpSize()) - 1;
  const int64_t nearest = std::clamp(-between / stride, -most, most);
  for (const int64_t lanes : {nearest - 1, nearest, nearest + 1, int64_t{-1}, int64_t{1}})
    if (const int64_t apart = between + lanes * stride;
        lanes != 0 && std::abs(lanes) <= most && apart > -second.bytes && apart < first.bytes)
      return true;
  return false;
}

bool Meeting::isCertain(const Access& first, const Access& second,
                        function_ref<bool(const Instruction&)> isRenewed) {
  // The cheapest questions first: large kernels have millions of pairs.
  if (first.form != second.form || first.displacement == second.displacement ||
      first.base != second.base || !sums_.isFlat())
    return false;
  const Product thread{sums_.threadIndex(0)};
  const auto isKnown = [&](const auto& term) {
    return term.first == thread || all_of(term.first, [&](Leaf leaf) {
             const LeafFacts& facts = sums_.facts(leaf);
             return facts.isAlike && (!facts.value || !isRenewed(*facts.value));
           });
  };
  return first.offset.contains(thread) && mayBeApart(first, second) &&
         all_of(first.offset, isKnown) && isPossible(first, second, isRenewed);
}

} // namespace mneme::compile::cpu::in_step
