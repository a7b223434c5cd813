// Room replay (internal): writes a recording of a launch without what it does not need.
#pragma once

#include <filesystem>
#include <vector>

#include "runtime/core/artifact/recording.h"
#include "runtime/core/artifact/snapshot.h"
#include "runtime/replay/memory_image.h"
#include "runtime/replay/trim.h"

namespace mneme::replay {

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
