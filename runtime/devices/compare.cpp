#include "runtime/devices/compare.h"

#include <cmath>
#include <cstring>

#include "runtime/core/base/error.h"
#include "runtime/devices/compare_chunk.h"

namespace mneme::device {

namespace {

uint64_t loadTail(uint64_t base, uint64_t offset, uint64_t sizeBytes) noexcept {
  uint64_t bits = 0;
  memcpy(&bits, reinterpret_cast<const char*>(base) + offset, sizeBytes);
  return bits;
}

long double normOf(Norm norm, long double sum, long double squares, long double largest) {
  switch (norm) {
  case Norm::L1:
    return sum;
  case Norm::L2:
    return std::sqrt(squares);
  default:
    return largest;
  }
}

} // namespace

bool compareTail(const CompareRequest& request, ComparePart& part) {
  const uint64_t elementBytes = sizeOf(request.type);
  const uint64_t tailBytes = request.sizeBytes % elementBytes;
  if (tailBytes == 0)
    return false;
  const uint64_t offset = request.sizeBytes - tailBytes;
  const uint64_t actual = loadTail(request.actual, offset, tailBytes);
  const uint64_t expected = loadTail(request.expected, offset, tailBytes);
  if (actual == expected)
    return false;
  ComparePart tail;
  tail.mismatchCount = 1;
  tail.differentCount = 1;
  tail.firstMismatch = request.sizeBytes / elementBytes;
  tail.firstActualBits = actual;
  tail.firstExpectedBits = expected;
  mergeParts(part, tail);
  return true;
}

void checkRequest(const CompareRequest& request) {
  if (!(request.threshold >= 0))
    throw Error(ErrorCode::InvalidArgument,
                "a tolerance must be 0 or more, not " + std::to_string(request.threshold));
  if (request.norm != Norm::None && request.kind == ThresholdKind::Ulp)
    throw Error(
        ErrorCode::InvalidArgument,
        "a norm has no units in the last place; use an absolute or relative tolerance with it");
}

CompareReport finishComparison(const CompareRequest& request, ComparePart part) {
  const bool isTailDifferent = compareTail(request, part);
  return makeReport(request, part, isTailDifferent);
}

CompareReport makeReport(const CompareRequest& request, const ComparePart& part,
                         bool isTailDifferent) {
  CompareReport report;
  report.isExact = part.differentCount == 0;
  report.differentCount = part.differentCount;
  report.mismatchCount = part.mismatchCount;
  report.isAccepted = part.mismatchCount == 0;
  if (request.norm != Norm::None) {
    const long double norm = normOf(request.norm, part.sum, part.sumSquares, part.largest);
    const long double scale =
        request.kind == ThresholdKind::Relative
            ? normOf(request.norm, part.expectedSum, part.expectedSumSquares, part.expectedLargest)
            : 1;
    report.normValue = static_cast<double>(norm);
    report.isAccepted =
        std::isfinite(norm) && norm <= request.threshold * scale && !isTailDifferent;
    if (report.isAccepted)
      report.mismatchCount = 0;
  }
  if (report.mismatchCount > 0) {
    report.firstMismatch = part.firstMismatch;
    report.firstExpectedBits = part.firstExpectedBits;
    report.firstActualBits = part.firstActualBits;
  }
  report.maxAbsolute = part.maxAbsolute;
  report.maxRelative = part.maxRelative;
  report.maxUlp = part.maxUlp;
  return report;
}

CompareReport compareOnHost(const CompareRequest& request) {
  checkRequest(request);
  return finishComparison(request,
                          compareElements(request, 0, request.sizeBytes / sizeOf(request.type)));
}

} // namespace mneme::device
