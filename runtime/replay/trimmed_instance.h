// Room replay (internal): writes a recording of a launch without what it does not need.
#pragma once

#include <filesystem>
#include <vector>

#include "runtime/core/artifact/recording.h"
#include "runtime/core/artifact/snapshot.h"
#include "runtime/replay/memory_image.h"
#include "runtime/replay/trial_memory.h"

namespace mneme::replay {

/// What a trimmed recording leaves out.
struct TrimOrder {
  std::vector<Fill> unread; ///< ascending, without overlaps; the patterns are ignored
  /// Parts of `unread` that are not even allocated: whole chunks of regions.
  std::vector<artifact::ByteRange> unallocated; ///< offsets are recorded addresses
};

/// The launch that is written, as it was recorded, and what trials showed.
struct TrimSource {
  const artifact::KernelRecord& record;
  const artifact::Instance& instance; ///< with the grid that is written
  const std::vector<std::vector<std::byte>>& modules;
  const artifact::Snapshot& prologue;
  const artifact::Snapshot& epilogue;
  const MemoryImage& image;
  const TrialMemory& memory;
};

/// Writes `<directory>/<static hash>.json` with one launch, and all it needs. \throws
/// Error{IoFailed, OutOfMemory, DeviceFailed}
void writeTrimmed(const std::filesystem::path& directory, const TrimSource& source,
                  const TrimOrder& order);

} // namespace mneme::replay
