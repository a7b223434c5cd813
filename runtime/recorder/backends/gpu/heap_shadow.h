// Room recorder: copies of the heap of a GPU, which kernels can read and the vendor's copies
// cannot.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "runtime/devices/bulk/bulk.h"
#include "runtime/devices/gpu/device_range.h"
#include "runtime/recorder/device_access.h"

namespace mneme::record::gpu {

/// Copies of what the heap has of some pieces, in memory that all can read. Nothing may use a copy
/// any more when it is destroyed.
class HeapShadow {
public:
  /// Starts the copies. `bulk` may be null if no piece is of the heap.
  /// \throws Error{OutOfMemory}
  HeapShadow(const device::gpu::Driver& driver, int device, std::span<const Piece> pieces,
             const AddressRange& heap, device::BulkOperations* bulk);

  /// Returns where the content of a piece is: the place of its copy, if it was copied.
  uint64_t addressOf(const Piece& piece) const;

private:
  device::gpu::DeviceRange memory_;
  std::unordered_map<uint64_t, uint64_t> copies_; ///< by the address that was copied
};

} // namespace mneme::record::gpu
