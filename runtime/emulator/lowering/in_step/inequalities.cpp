// Elimination of one variable after the other, by Fourier and Motzkin; constants are rounded, as
// the variables are integers. Which is found out depends on the order, so there are two.
//
// Kernels with many accesses ask thousands of questions of some dozens of inequalities each. So
// factors stand in rows of equal width, one behind the other, and are found by their hash.
#include "runtime/emulator/lowering/in_step/inequalities.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace mneme::compile::cpu::in_step {
namespace {

constexpr size_t kMostInequalities = 400;
constexpr int64_t kLargest = int64_t{1} << 45; // products of two factors that are kept do not wrap

int64_t divideDown(int64_t number, int64_t by) {
  return number / by - (number % by != 0 && number < 0 ? 1 : 0);
}

/// The strongest constant for each combination of factors.
class System {
public:
  /// Column 0 of a row is the constant.
  explicit System(size_t width) : width_(width), places_(64, kNone) {}

  size_t size() const { return cells_.size() / width_; }
  size_t width() const { return width_; }
  const int64_t* row(size_t index) const { return &cells_[index * width_]; }

  /// False if it can never hold. Changes `row`.
  bool insert(int64_t* row) {
    int64_t common = 0;
    for (size_t column = 1; column < width_ && common != 1; ++column)
      if (row[column])
        common = std::gcd(common, row[column]);
    if (!common)
      return row[0] >= 0;
    if (common > 1) {
      for (size_t column = 1; column < width_; ++column)
        row[column] /= common;
      row[0] = divideDown(row[0], common);
    }
    bool isHuge = false;
    for (size_t column = 0; column < width_; ++column)
      isHuge |= row[column] > kLargest || row[column] < -kLargest;
    if (!isHuge) // else it is forgotten
      keep(row);
    return true;
  }

private:
  static constexpr uint32_t kNone = ~0u;

  void keep(const int64_t* row) {
    uint32_t& place = placeOf(row);
    if (place != kNone) {
      int64_t& constant = cells_[place * width_];
      constant = std::min(constant, row[0]);
      return;
    }
    place = uint32_t(size());
    cells_.insert(cells_.end(), row, row + width_);
    if (size() * 2 > places_.size()) {
      places_.assign(places_.size() * 4, kNone);
      for (uint32_t index = 0; index < size(); ++index)
        placeOf(this->row(index)) = index;
    }
  }

  /// Where the number of the row with these factors stands, or belongs.
  uint32_t& placeOf(const int64_t* row) {
    uint64_t hash = 0, factor = 1;
    for (size_t column = 1; column < width_; ++column)
      hash += uint64_t(row[column]) * (factor *= 0x9e3779b97f4a7c15u);
    const size_t mask = places_.size() - 1;
    for (size_t at = (hash ^ hash >> 32) & mask;; at = (at + 1) & mask)
      if (places_[at] == kNone || std::equal(row + 1, row + width_, this->row(places_[at]) + 1))
        return places_[at];
  }

  size_t width_;
  std::vector<int64_t> cells_;
  std::vector<uint32_t> places_; ///< a power of 2 of them, at least half are free
};

/// Which variable goes next.
enum class Order {
  Small, ///< that whose elimination makes the system grow least
  Exact, ///< the same, but first those whose elimination loses no integer
};

/// Nothing if there is none left.
std::optional<size_t> chooseVariable(const System& system, Order order) {
  struct Column {
    size_t up = 0, down = 0;
    bool isExactUp = true, isExactDown = true; ///< its factors are 1
  };
  std::vector<Column> columns(system.width());
  for (size_t index = 0; index < system.size(); ++index)
    for (size_t column = 1; column < system.width(); ++column) {
      const int64_t factor = system.row(index)[column];
      if (factor > 0)
        ++columns[column].up, columns[column].isExactUp &= factor == 1;
      else if (factor < 0)
        ++columns[column].down, columns[column].isExactDown &= factor == -1;
    }
  std::optional<size_t> best;
  std::pair<bool, size_t> least;
  for (size_t column = 1; column < system.width(); ++column) {
    const Column& one = columns[column];
    const std::pair made(order == Order::Exact && !one.isExactUp && !one.isExactDown,
                         one.up * one.down);
    if (one.up + one.down != 0 && (!best || made < least))
      best = column, least = made;
  }
  return best;
}

/// What two inequalities say without the variable that the first bounds from below, the second from
/// above. False if the numbers are too large.
bool combine(const System& system, const int64_t* above, const int64_t* below, size_t variable,
             int64_t* row) {
  constexpr int64_t kSmall = int64_t{1} << 16; // times what is kept does not wrap
  int64_t up = above[variable], down = -below[variable];
  if (const int64_t common = up == 1 || down == 1 ? 1 : std::gcd(up, down); common != 1)
    up /= common, down /= common;
  if (up < kSmall && down < kSmall) {
    for (size_t column = 0; column < system.width(); ++column)
      row[column] = above[column] * down + below[column] * up;
    return true;
  }
  for (size_t column = 0; column < system.width(); ++column) {
    int64_t first = 0, second = 0;
    if (__builtin_mul_overflow(above[column], down, &first) ||
        __builtin_mul_overflow(below[column], up, &second) ||
        __builtin_add_overflow(first, second, &row[column]))
      return false;
  }
  return true;
}

/// False if the rest contradicts itself. Later variables have their numbers less one then.
bool eliminate(System& system, size_t variable, uint64_t& work) {
  const size_t width = system.width();
  System rest(width - 1);
  std::vector<int64_t> made(width);
  std::vector<const int64_t*> above, below;
  const auto insert = [&] {
    std::copy(made.begin() + int64_t(variable) + 1, made.end(), made.begin() + int64_t(variable));
    work += width;
    return rest.insert(made.data());
  };
  for (size_t index = 0; index < system.size(); ++index) {
    const int64_t* row = system.row(index);
    if (row[variable]) {
      (row[variable] > 0 ? above : below).push_back(row);
      continue;
    }
    made.assign(row, row + width);
    insert();
  }
  for (const int64_t* upper : above)
    for (const int64_t* lower : below)
      if (combine(system, upper, lower, variable, made.data()) && !insert())
        return false;
  system = std::move(rest);
  return true;
}

bool mayHold(System system, Order order, uint64_t& work) {
  while (system.size() <= kMostInequalities) {
    const auto variable = chooseVariable(system, order);
    if (!variable)
      return true;
    if (!eliminate(system, *variable, work))
      return false;
  }
  return true;
}

} // namespace

bool mayHold(const std::vector<Inequality>& inequalities, uint64_t& work) {
  std::vector<unsigned> columns; // by variable
  for (const Inequality& inequality : inequalities)
    for (const auto& [variable, factor] : inequality) {
      columns.resize(std::max<size_t>(columns.size(), variable + 1));
      columns[variable] = variable != 0 && (columns[variable] || factor != 0);
    }
  unsigned width = 1;
  for (unsigned& column : columns)
    column = column ? width++ : 0;
  System system(width);
  std::vector<int64_t> row(width);
  for (const Inequality& inequality : inequalities) {
    row.assign(width, 0);
    for (const auto& [variable, factor] : inequality)
      if (factor)
        row[columns[variable]] = factor;
    if (!system.insert(row.data()))
      return false;
  }
  return mayHold(system, Order::Small, work) && mayHold(std::move(system), Order::Exact, work);
}

} // namespace mneme::compile::cpu::in_step
