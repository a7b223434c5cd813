// Room replay (internal): a piece of a snapshot on its way to a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "runtime/core/artifact/snapshot.h"

namespace mneme::replay {

/// The bytes [offset, offset + sizeBytes) of region `region` of `snapshot`, to be copied to
/// `destination`.
struct UploadPiece {
  const artifact::Snapshot* snapshot = nullptr;
  size_t region = 0;
  uint64_t offset = 0;
  uint64_t sizeBytes = 0;
  uint64_t destination = 0;
};

/// Receives the bytes of every piece on the way, and may change them. Several threads call it at
/// once; it must not throw.
using PieceInspector = std::function<void(const UploadPiece&, std::span<std::byte>)>;

} // namespace mneme::replay
