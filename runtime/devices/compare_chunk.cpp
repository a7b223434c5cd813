#include "runtime/devices/compare_chunk.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include "runtime/devices/element_distance.h"

namespace mneme::device {

namespace {

bool isExactRequest(const CompareRequest& request) noexcept {
  return request.threshold == 0 && request.norm == Norm::None;
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

template <DataType type> struct ElementComparer {
  static constexpr bool isFloat = !isIntegerType<type>;
  static constexpr uint64_t elementBytes = elementBytesOf<type>();
  using Bits = BitsOf<type>;
  using Real = std::conditional_t<elementBytes == 8, long double, double>;

  const CompareRequest& request;
  ComparePart& part;
  BlockSums<Real> differences{}, expectedValues{};
  const Tolerance tolerance{request.threshold, request.kind, request.nan};
  const bool isExact = isExactRequest(request);
  const bool hasNorm = request.norm != Norm::None;
  const bool needsExpected = hasNorm && request.kind == ThresholdKind::Relative;
  const bool needsNans = isFloat && !isExact && request.nan == NanPolicy::Never;

  static Bits load(uint64_t base, uint64_t index) noexcept {
    Bits bits;
    memcpy(&bits, reinterpret_cast<const char*>(base) + index * sizeof(Bits), sizeof(Bits));
    return bits;
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
    const Distance found = distanceOf<type>(tolerance, actual, expected, part.maxRelative);
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
