// An application without a device whose recording has many kernels, instances and buffers.
#pragma once

#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "tests/unit/artifact/fixtures.h"

namespace mneme::artifact::test {

/// What is in the chunks of one buffer; 0: zeros.
using Stamps = std::vector<uint64_t>;

struct ManyKernelsSize {
  uint64_t kernels = 200;
  uint64_t buffers = 50;
  uint64_t chunks = 4; ///< of a buffer
};

/// Kernels that work on a few of many buffers each, every tenth on all of them, and change a chunk
/// or two of them; with the recorder that knows what changed.
class ManyKernels {
public:
  ManyKernels(const std::filesystem::path& directory, const ManyKernelsSize& size);

  /// Kernels in random order; the first and the last one see all buffers.
  std::vector<uint64_t> order(uint64_t instances) const;
  /// Records a launch as instance `dynamicHash` of static hash `kernel + 1`.
  void launch(uint64_t kernel, uint64_t dynamicHash);
  /// What the last epilogue of a kernel has to hold, by region.
  std::vector<Stamps> held(uint64_t kernel) const;

  static uint64_t sizeOfBuffer(uint64_t chunks) { return chunks * kChunkBytes - 100; }
  /// A chunk that differs from all with other stamps, and is small on disk.
  static Bytes contentOf(uint64_t stamp, uint32_t sizeBytes);

  RecordingWriter writer;

private:
  struct Known {
    std::optional<DraftBase> base;
    Stamps stamps;
  };
  SnapshotDraft snapshot(uint64_t kernel);
  void addChunk(SnapshotDraft& draft, uint64_t stamp, uint64_t chunk);

  ManyKernelsSize size_;
  std::vector<Stamps> buffers_;
  std::vector<std::set<uint64_t>> seen_; ///< buffers, by kernel
  std::map<uint64_t, Known> known_;
  std::mt19937_64 random_{5};
  uint64_t lastStamp_ = 0;
  uint64_t lastId_ = 0;
};

} // namespace mneme::artifact::test
