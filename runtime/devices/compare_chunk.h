// Room devices: comparison of a part of a buffer, so that parts can run on several threads.
// Internal.
#pragma once

#include <cstdint>
#include <limits>

#include "runtime/devices/compare_types.h"

namespace mneme::device {

/// The result for some elements. Parts are merged in the order of their elements.
struct ComparePart {
  uint64_t mismatchCount = 0;
  uint64_t differentCount = 0;
  uint64_t firstMismatch = std::numeric_limits<uint64_t>::max();
  uint64_t firstExpectedBits = 0;
  uint64_t firstActualBits = 0;
  double maxAbsolute = 0.0;
  double maxRelative = 0.0;
  uint64_t maxUlp = 0;
  // Sums of |x| and x*x and the largest |x|, for the differences and for the expected values.
  long double sum = 0, sumSquares = 0, largest = 0;
  long double expectedSum = 0, expectedSumSquares = 0, expectedLargest = 0;
};

/// \throws Error{InvalidArgument} for a negative or NaN threshold, or a norm in units of ULP.
void checkRequest(const CompareRequest& request);

/// Compares the elements [begin, end). The tail after the last element is compared by
/// finishComparison.
ComparePart compareElements(const CompareRequest& request, uint64_t begin, uint64_t end);
/// Compares the bytes behind the last whole element; true if they differ.
bool compareTail(const CompareRequest& request, ComparePart& part);
void mergeParts(ComparePart& into, const ComparePart& next) noexcept;
CompareReport finishComparison(const CompareRequest& request, ComparePart part);
/// Makes the report of a request from `part`, tail included. Reads no device memory.
CompareReport makeReport(const CompareRequest& request, const ComparePart& part,
                         bool isTailDifferent);

} // namespace mneme::device
