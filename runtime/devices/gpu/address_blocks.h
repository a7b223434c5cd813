// Room devices/gpu: address ranges of our choice.
//
// NVIDIA's driver serves small reservations from partly used blocks of 32 MiB, whatever address is
// asked for, and rounds wanted addresses up to such blocks (seen with driver 580 on an H200). So
// whole blocks are reserved, and users of parts of a block share it.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "runtime/devices/gpu/gpu_driver.h"

namespace mneme::device::gpu {

/// Not thread-safe. Blocks that are still held stay reserved when this is destroyed.
class AddressBlocks {
public:
  explicit AddressBlocks(const Driver& driver) : driver_(driver) {}

  /// Reserves every block of [address, address + sizeBytes) that is not held yet. Returns false,
  /// with nothing changed, if the driver does not grant exactly these addresses.
  bool take(uint64_t address, uint64_t sizeBytes);
  /// Gives back what take() took. Blocks that are no longer needed are returned to the driver.
  void give(uint64_t address, uint64_t sizeBytes) noexcept;
  /// The parts of a held range that lie in one reservation each (address, size): memory cannot be
  /// mapped across two.
  std::vector<std::pair<uint64_t, uint64_t>> parts(uint64_t address, uint64_t sizeBytes) const;

private:
  struct Reservation {
    uint64_t sizeBytes = 0;
    unsigned users = 0;
  };
  using Reservations = std::map<uint64_t, Reservation>;
  /// `room` is the number of bytes from `address` on that are not held yet: the largest possible
  /// reservation.
  bool reserveExactly(uint64_t address, uint64_t sizeBytes, uint64_t room);
  Reservations::iterator firstOverlap(uint64_t address);
  void dropUnused() noexcept;

  const Driver& driver_;
  Reservations reservations_;
};

} // namespace mneme::device::gpu
