#include "runtime/devices/compare_pieces.h"

#include "runtime/devices/compare.h"

namespace mneme::device {

ComparisonByPieces::ComparisonByPieces(const CompareRequest& request) : request_(request) {
  checkRequest(request);
}

/// Norms count every element of the expected content, and a NaN may not match itself.
bool ComparisonByPieces::mayLeaveOutEqual(const CompareRequest& request) noexcept {
  return request.norm == Norm::None && (request.threshold == 0 || request.nan != NanPolicy::Never);
}

void ComparisonByPieces::add(uint64_t offset, std::span<const std::byte> actual,
                             std::span<const std::byte> expected) {
  const uint64_t elementBytes = sizeOf(request_.type);
  const uint64_t first = offset / elementBytes, count = actual.size() / elementBytes;
  CompareRequest here = request_; // with addresses where element 0 would be
  here.actual = reinterpret_cast<uint64_t>(actual.data()) - offset;
  here.expected = reinterpret_cast<uint64_t>(expected.data()) - offset;
  mergeParts(part_, compareElements(here, first, first + count));
  const bool isLast = offset + actual.size() == request_.sizeBytes;
  if (isLast && actual.size() % elementBytes != 0)
    isTailDifferent_ = compareTail(here, part_);
}

CompareReport ComparisonByPieces::report() const {
  return makeReport(request_, part_, isTailDifferent_);
}

} // namespace mneme::device
