// Room replay: content of snapshots, streamed to a device at memory bandwidth.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/artifact/snapshot.h"
#include "runtime/device/device.h"

namespace mneme::replay {

/// [offset, offset + sizeBytes) of region `region` of `snapshot`, to be put at `destination`.
struct UploadPiece {
  const artifact::Snapshot* snapshot = nullptr;
  size_t region = 0;
  uint64_t offset = 0;
  uint64_t sizeBytes = 0;
  uint64_t destination = 0;
};

/// Appends the pieces of [offset, offset + sizeBytes) of a region whose first byte belongs at
/// `base`. With `skipZero` chunks that hold only zeros are left out (the destination is zeroed).
void appendPieces(std::vector<UploadPiece>& pieces, const artifact::Snapshot& snapshot,
                  size_t region, uint64_t offset, uint64_t sizeBytes, uint64_t base, bool skipZero);

/// Reads and decompresses on all cores, copies on the calling thread.
/// \throws as Snapshot::read() and Device::copyToDevice()
void upload(device::Device& device, const std::vector<UploadPiece>& pieces);

} // namespace mneme::replay
