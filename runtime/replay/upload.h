// Room replay: streams content of snapshots to a device at memory bandwidth.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/core/artifact/snapshot.h"
#include "runtime/devices/device.h"
#include "runtime/replay/upload_piece.h"

namespace mneme::replay {

/// Appends the pieces of [offset, offset + sizeBytes) of a region whose first byte belongs at
/// `base`. With `skipZero`, chunks of zeros are left out (the destination is zeroed).
void appendPieces(std::vector<UploadPiece>& pieces, const artifact::Snapshot& snapshot,
                  size_t region, uint64_t offset, uint64_t sizeBytes, uint64_t base, bool skipZero);
/// The same for several ranges of one region, whose hashes are looked at once.
void appendPieces(std::vector<UploadPiece>& pieces, const artifact::Snapshot& snapshot,
                  size_t region, std::span<const artifact::ByteRange> ranges, uint64_t base,
                  bool skipZero);

/// Whether a chunk with this hash, of artifact::kChunkBytes or less, is all zero.
bool isZeroChunk(const Hash128& hash, uint64_t sizeBytes);

/// Reads and decompresses all pieces on all cores. \throws as Snapshot::read()
void readPieces(const std::vector<UploadPiece>& pieces, const PieceInspector& inspect);

/// Copies pieces to a device. Threads read and decompress directly into the device's staging
/// buffers while the calling thread starts the copies, so that disk, processor and bus work at the
/// same time. The buffers are kept for the next upload. The device must outlive it.
class Uploader {
public:
  explicit Uploader(device::Device& device) : device_(device) {}

  /// Complete on return. \throws as Snapshot::read() and Device::startCopyToDevice()
  void upload(const std::vector<UploadPiece>& pieces, const PieceInspector& inspect = {});

private:
  void uploadInline(const std::vector<UploadPiece>& pieces, const PieceInspector& inspect);
  bool addStaging(size_t limit);

  device::Device& device_;
  std::vector<std::unique_ptr<device::StagingBuffer>> staging_;
};

} // namespace mneme::replay
