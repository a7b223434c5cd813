// Room artifact: writes recordings behind the application's back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "runtime/artifact/recording.h"

namespace mneme::artifact {

/// A chunk to be stored: its content hash, and its bytes unless the writer said it has them already.
struct ChunkDraft {
  Hash128 hash;
  uint32_t rawBytes = 0;
  std::vector<std::byte> bytes; ///< empty when RecordingWriter::hasChunk(hash) was true, or all zero
  bool isZero = false;
};

struct RegionDraft {
  Region region;
  std::vector<ChunkDraft> chunks;
};

struct SnapshotDraft {
  std::vector<RegionDraft> regions;
  std::vector<std::vector<std::byte>> args;
};

/// A finished capture of one launch, ready to be written.
struct InstanceDraft {
  Instance instance; ///< file names are filled in by the writer
  SnapshotDraft prologue;
  SnapshotDraft epilogue;
};

enum class EpilogueFormat {
  Diff,  ///< chunks already stored (in the prologue, in earlier instances) are referenced
  Bytes, ///< the epilogue file holds all its chunks itself
};

struct WriterOptions {
  std::filesystem::path directory;
  uint64_t queueBytes = 512ull << 20; ///< bound on content waiting to be written
  int compressionLevel = 1;           ///< zstd; incompressible chunks are stored raw
  unsigned compressionThreads = 1;
  EpilogueFormat epilogueFormat = EpilogueFormat::Diff;
};

struct WriterStatistics {
  uint64_t instancesWritten = 0;
  uint64_t instancesLost = 0;
  uint64_t rawBytes = 0;    ///< what the snapshots describe
  uint64_t uniqueBytes = 0; ///< distinct content
  uint64_t storedBytes = 0; ///< on disk
  uint64_t waitNs = 0;      ///< time submit() was blocked by the bound
  std::vector<std::string> losses; ///< one sentence each
};

/// Owns one directory for one session. Threads: any thread may call; submit() order is kept. The
/// worker thread is started by the first submit(). Nothing throws after construction except by
/// contract below: what cannot be written (disk full) is counted as lost, with a sentence, and
/// everything that depends on it is lost with it; earlier instances stay valid.
class RecordingWriter {
public:
  /// Creates the directory if needed. Existing records of the same kernels are extended: instances
  /// with other dynamic hashes are kept, those recorded again are replaced.
  /// \throws Error{IoFailed} if the directory cannot be created or written.
  explicit RecordingWriter(WriterOptions options);
  ~RecordingWriter(); ///< finish()

  /// Announces a kernel before its first instance: writes `RecordedIR_<hash>.bc` per module.
  void addKernel(const KernelRecord& record, const std::vector<std::vector<std::byte>>& modules);

  /// True when content with this hash is stored or waiting in the queue: the caller need not copy
  /// it. Hashes of chunks submitted later with bytes become known on submit().
  bool hasChunk(const Hash128& hash) const;

  /// Queues a capture; blocks while more than queueBytes wait.
  void submit(uint64_t staticHash, InstanceDraft draft);

  /// Sets the occurrence count written with an instance.
  void setOccurrences(uint64_t staticHash, uint64_t dynamicHash, uint64_t occurrences);

  /// Notes something that could not be recorded: goes into the session file and the losses.
  void noteLoss(const std::string& sentence);

  /// Waits until everything is written and published, then stops the worker. Idempotent.
  void finish() noexcept;
  WriterStatistics statistics() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace mneme::artifact
