// Room devices: comparison on the host of a buffer that is brought there piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/devices/compare_chunk.h"

namespace mneme::device {

/// Compares as compareOnHost() does. The request's addresses are not used.
class ComparisonByPieces {
public:
  /// \throws Error{InvalidArgument} as compareOnHost()
  explicit ComparisonByPieces(const CompareRequest& request);

  /// Whether bytes that are the same on both sides may be left out.
  static bool mayLeaveOutEqual(const CompareRequest& request) noexcept;
  /// Compares the bytes that begin at `offset`, which is that of an element. They end with an
  /// element, or are the last. Pieces must come in order.
  void add(uint64_t offset, std::span<const std::byte> actual, std::span<const std::byte> expected);
  CompareReport report() const;

private:
  CompareRequest request_;
  ComparePart part_;
  bool isTailDifferent_ = false;
};

} // namespace mneme::device
