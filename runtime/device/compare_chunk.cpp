#include "runtime/device/compare_chunk.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "runtime/device/element.h"

namespace mneme::device {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Distance {
  double absolute = 0;
  double relative = 0;
  uint64_t ulp = 0;
  bool isWithin = true;
};

bool isExactRequest(const CompareRequest& request) noexcept {
  return request.threshold == 0 && request.norm == Norm::None;
}

constexpr Distance unrelated{infinity, infinity, std::numeric_limits<uint64_t>::max(), false};

template <DataType type>
Distance integerDistance(const CompareRequest& request, uint64_t actual, uint64_t expected) {
  using Integer = typename IntegerOf<type>::Type;
  const auto a = static_cast<Integer>(actual), e = static_cast<Integer>(expected);
  const auto wide = [](Integer value) {
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  };
  const uint64_t difference = a > e ? wide(a) - wide(e) : wide(e) - wide(a);
  const long double magnitude = std::abs(static_cast<long double>(e));
  Distance result;
  result.absolute = static_cast<double>(difference);
  result.relative = difference == 0 ? 0
                    : e == 0        ? infinity
                                    : static_cast<double>(difference / magnitude);
  const long double limit = request.kind == ThresholdKind::Relative
                                ? static_cast<long double>(request.threshold) * magnitude
                                : static_cast<long double>(request.threshold);
  result.isWithin = static_cast<long double>(difference) <= limit;
  return result;
}

// An infinity matches itself only: it has no distance from other values, whatever the threshold.
template <DataType type>
Distance floatDistance(const CompareRequest& request, uint64_t actual, uint64_t expected) {
  const double a = decode<type>(actual), e = decode<type>(expected);
  const bool isNanA = a != a, isNanE = e != e;
  if (isNanA || isNanE) {
    const bool isMatch = isNanA && isNanE &&
                         (request.nan == NanPolicy::Equal ||
                          (request.nan == NanPolicy::Bitwise && actual == expected));
    return isMatch ? Distance{} : unrelated;
  }
  if (a == e)
    return {};
  Distance result;
  result.ulp = ulpDistance<type>(actual, expected);
  if (std::isinf(a) || std::isinf(e)) {
    result.absolute = result.relative = infinity;
    result.isWithin = false;
    return result;
  }
  result.absolute = std::abs(a - e);
  result.relative = e == 0 ? infinity : result.absolute / std::abs(e);
  switch (request.kind) {
  case ThresholdKind::Absolute:
    result.isWithin = result.absolute <= request.threshold;
    break;
  case ThresholdKind::Relative:
    result.isWithin = result.absolute <= request.threshold * std::abs(e);
    break;
  case ThresholdKind::Ulp:
    result.isWithin = static_cast<double>(result.ulp) <= request.threshold;
    break;
  }
  return result;
}

/// Sums over one block of elements. Types whose squares fit sum in double there, which is many
/// times faster; blocks are added up in long double.
template <typename Real> struct BlockSums {
  Real sum = 0, squares = 0, largest = 0;

  void add(Real value) noexcept {
    sum += value;
    squares += value * value;
    largest = std::max(largest, value);
  }
  void moveInto(long double& total, long double& totalSquares, long double& totalLargest) noexcept {
    total += sum;
    totalSquares += squares;
    totalLargest = std::max<long double>(totalLargest, largest);
    *this = {};
  }
};

template <DataType type, bool isInteger> struct BitsOf {
  using Type = typename FloatFormat<type>::Bits;
};
template <DataType type> struct BitsOf<type, true> {
  using Type = std::make_unsigned_t<typename IntegerOf<type>::Type>;
};

template <DataType type> struct ElementComparer {
  static constexpr bool isFloat = !isIntegerType<type>;
  static constexpr uint64_t elementBytes = sizeof(typename BitsOf<type, !isFloat>::Type);
  using Bits = typename BitsOf<type, !isFloat>::Type;
  using Real = std::conditional_t<elementBytes == 8, long double, double>;

  const CompareRequest& request;
  ComparePart& part;
  BlockSums<Real> differences{}, expectedValues{};
  const bool isExact = isExactRequest(request);
  const bool hasNorm = request.norm != Norm::None;
  const bool needsExpected = hasNorm && request.kind == ThresholdKind::Relative;
  const bool needsNans = isFloat && !isExact && request.nan == NanPolicy::Never;

  static Bits load(uint64_t base, uint64_t index) noexcept {
    Bits bits;
    memcpy(&bits, reinterpret_cast<const char*>(base) + index * sizeof(Bits), sizeof(Bits));
    return bits;
  }

  Distance distance(uint64_t actual, uint64_t expected) const {
    if constexpr (isFloat)
      return floatDistance<type>(request, actual, expected);
    else
      return integerDistance<type>(request, actual, expected);
  }

  void addExpected(uint64_t bits) noexcept {
    Real value = 0;
    if constexpr (isFloat)
      value = decode<type>(bits);
    else
      value = static_cast<typename IntegerOf<type>::Type>(bits);
    value = std::abs(value);
    if (value <= std::numeric_limits<double>::max()) // neither infinite nor NaN
      expectedValues.add(value);
  }

  void compare(uint64_t index) {
    const Bits actual = load(request.actual, index), expected = load(request.expected, index);
    if (needsExpected)
      addExpected(expected);
    const bool isDifferent = actual != expected;
    if (!isDifferent && !needsNans)
      return;
    const Distance found = distance(actual, expected);
    if (isDifferent) {
      ++part.differentCount;
      part.maxAbsolute = std::max(part.maxAbsolute, found.absolute);
      part.maxRelative = std::max(part.maxRelative, found.relative);
      part.maxUlp = std::max(part.maxUlp, found.ulp);
    }
    if (hasNorm)
      differences.add(found.absolute);
    if ((isDifferent && (isExact || hasNorm)) || !found.isWithin)
      noteMismatch(index, actual, expected);
  }

  void noteMismatch(uint64_t index, uint64_t actual, uint64_t expected) {
    if (part.mismatchCount++ > 0)
      return;
    part.firstMismatch = index;
    part.firstActualBits = actual;
    part.firstExpectedBits = expected;
  }

  // Equal blocks need a look at their elements only for norms of the expected values and for NaNs
  // that must not match themselves.
  void run(uint64_t begin, uint64_t end) {
    constexpr uint64_t blockElements = 4096 / sizeof(Bits);
    const bool canSkip = !needsExpected && !needsNans;
    for (uint64_t at = begin; at < end; at += blockElements) {
      const uint64_t blockEnd = std::min(end, at + blockElements);
      if (canSkip && memcmp(reinterpret_cast<const char*>(request.actual) + at * sizeof(Bits),
                            reinterpret_cast<const char*>(request.expected) + at * sizeof(Bits),
                            (blockEnd - at) * sizeof(Bits)) == 0)
        continue;
      for (uint64_t i = at; i < blockEnd; ++i)
        compare(i);
      differences.moveInto(part.sum, part.sumSquares, part.largest);
      expectedValues.moveInto(part.expectedSum, part.expectedSumSquares, part.expectedLargest);
    }
  }
};

template <DataType type>
void compareTyped(const CompareRequest& request, ComparePart& part, uint64_t begin, uint64_t end) {
  ElementComparer<type>{request, part}.run(begin, end);
}

using CompareFunction = void (*)(const CompareRequest&, ComparePart&, uint64_t, uint64_t);

template <size_t... index>
CompareFunction functionFor(DataType type, std::index_sequence<index...>) {
  static constexpr CompareFunction functions[] = {compareTyped<static_cast<DataType>(index)>...};
  return functions[std::min<size_t>(static_cast<size_t>(type), sizeof...(index) - 1)];
}

} // namespace

ComparePart compareElements(const CompareRequest& request, uint64_t begin, uint64_t end) {
  ComparePart part;
  functionFor(request.type, std::make_index_sequence<14>())(request, part, begin, end);
  return part;
}

void mergeParts(ComparePart& into, const ComparePart& next) noexcept {
  if (into.mismatchCount == 0 && next.mismatchCount > 0) {
    into.firstMismatch = next.firstMismatch;
    into.firstActualBits = next.firstActualBits;
    into.firstExpectedBits = next.firstExpectedBits;
  }
  into.mismatchCount += next.mismatchCount;
  into.differentCount += next.differentCount;
  into.maxAbsolute = std::max(into.maxAbsolute, next.maxAbsolute);
  into.maxRelative = std::max(into.maxRelative, next.maxRelative);
  into.maxUlp = std::max(into.maxUlp, next.maxUlp);
  into.sum += next.sum;
  into.sumSquares += next.sumSquares;
  into.largest = std::max(into.largest, next.largest);
  into.expectedSum += next.expectedSum;
  into.expectedSumSquares += next.expectedSumSquares;
  into.expectedLargest = std::max(into.expectedLargest, next.expectedLargest);
}

} // namespace mneme::device
