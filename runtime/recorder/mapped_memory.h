// Room recorder: device memory that the application maps itself, piece by piece, at addresses that
// it reserves (cuMemAddressReserve, cuMemMap).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace mneme::record {

/// Not thread-safe.
class MappedMemory {
public:
  /// Returns an address that a replay will find free, for a reservation whose address the
  /// application leaves to the vendor; 0 if there is none.
  uint64_t place(uint64_t sizeBytes, uint64_t alignment);
  /// Whether an address is one that place() returns.
  static bool isPlaced(uint64_t address) noexcept;

  void note(uint64_t address, uint64_t sizeBytes);
  /// Notes memory that kernels cannot read as other memory, and nobody can copy.
  void noteUnreadable(uint64_t address, uint64_t sizeBytes);
  /// Forgets the pieces that begin in this range.
  void forget(uint64_t address, uint64_t sizeBytes);
  bool contains(uint64_t address) const;
  bool isUnreadable(uint64_t address) const;
  std::vector<uint64_t> pieces() const; ///< their addresses
  /// Where one piece ends and another begins: kernels that have one have both.
  std::set<uint64_t> joints() const;

private:
  std::map<uint64_t, uint64_t> pieces_;     ///< address, size
  std::map<uint64_t, uint64_t> unreadable_; ///< the same
  uint64_t placedBytes_ = 0;
};

} // namespace mneme::record
