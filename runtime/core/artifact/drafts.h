// Room core/artifact: what the recorder hands to the writer: captured launches, and how to write
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/core/artifact/recording.h"

namespace mneme::artifact {

/// A chunk of a captured region.
struct ChunkDraft {
  uint64_t index = 0; ///< in the region, in units of kChunkBytes
  Hash128 hash;       ///< of the content, also if that is zero
  uint32_t rawBytes = 0;
  bool isZero = false;
  /// Empty when RecordingWriter::hasChunk(hash) was true, when another chunk of the same snapshot
  /// or of the instance's prologue brings the bytes, or when all are zero. SnapshotDraft::storage
  /// of the same snapshot keeps them alive.
  std::span<const std::byte> bytes;
};

/// A region of the same size, in the latest submitted snapshot with a region at its address, or in
/// the instance's own prologue.
struct DraftBase {
  uint64_t snapshot = 0; ///< SnapshotDraft::id
  size_t region = 0;     ///< index in it
};

struct RegionDraft {
  Region region;
  std::optional<DraftBase> base;
  /// Every chunk, or with a base those that differ from it; sorted by index.
  std::vector<ChunkDraft> chunks;
};

/// Memory with bytes of chunks; a chunk's bytes lie in one slab. It is released as soon as
/// everything in it is written, so that memory use falls while a large draft is written.
struct DraftSlab {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes; ///< kept alive by `owner`; count against queueBytes
};

struct SnapshotDraft {
  uint64_t id = 0; ///< unique in the session; 0: no other snapshot is based on this one
  std::vector<RegionDraft> regions;
  std::vector<std::vector<std::byte>> args;
  std::vector<DraftSlab> storage;
};

/// A finished capture of one launch, ready to be written.
struct InstanceDraft {
  Instance instance; ///< file names are filled in by the writer
  SnapshotDraft prologue;
  SnapshotDraft epilogue;
};

/// Returns the total size of all regions, new content or not.
uint64_t memoryBytes(const SnapshotDraft& snapshot) noexcept;

enum class EpilogueFormat {
  Diff,  ///< chunks already stored (in the prologue, in earlier instances) are referenced
  Bytes, ///< the epilogue file holds all its chunks itself
};

struct WriterOptions {
  std::filesystem::path directory;
  /// Bound on content waiting to be written. 0: automaticQueueBytes().
  uint64_t queueBytes = 0;
  int compressionLevel = 1; ///< zstd; chunks that hardly compress are stored raw
  /// 0: a quarter of the cores, and all of them once finish() waits. The application needs its
  /// cores, and a quarter of a node's cores compresses faster than its disk can write. All threads
  /// of the writer run at low priority.
  unsigned compressionThreads = 0;
  EpilogueFormat epilogueFormat = EpilogueFormat::Diff;
};

/// Returns MNEME_QUEUE_BYTES ("40G", "512M", "1073741824") if set. Otherwise returns half of the
/// memory that the system and its control groups leave this process now, but at least 512 MiB; the
/// other half remains for the application and the page cache.
uint64_t automaticQueueBytes();

} // namespace mneme::artifact
