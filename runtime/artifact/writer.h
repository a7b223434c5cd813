// Room artifact: writes recordings behind the application's back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/artifact/recording.h"

namespace mneme::artifact {

/// A chunk of a captured region.
struct ChunkDraft {
  uint64_t index = 0; ///< in the region, in units of kChunkBytes
  Hash128 hash;       ///< of the content, of zeros too
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

/// Memory that holds bytes of chunks. Let go as soon as everything in it is written, so that memory
/// falls while a large draft is written: a chunk's bytes lie in one slab.
struct DraftSlab {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes; ///< what `owner` keeps alive; counts against queueBytes
};

struct SnapshotDraft {
  uint64_t id = 0; ///< unique in the session; 0: nothing is based on this snapshot
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

/// Of all its regions, whether anything of them is new or not.
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
  /// cores; a quarter of a node's compresses faster than its disk takes. All threads of the writer
  /// run at low priority.
  unsigned compressionThreads = 0;
  EpilogueFormat epilogueFormat = EpilogueFormat::Diff;
};

/// MNEME_QUEUE_BYTES ("40G", "512M", "1073741824"), else half of the memory that is available now
/// to this process (the system's and its control groups'; the other half stays for the application
/// and the page cache), but at least 512 MiB.
uint64_t automaticQueueBytes();

struct WriterStatistics {
  uint64_t instancesWritten = 0;
  uint64_t instancesLost = 0;
  uint64_t rawBytes = 0;           ///< what the snapshots describe
  uint64_t uniqueBytes = 0;        ///< distinct content
  uint64_t storedBytes = 0;        ///< on disk
  uint64_t waitNs = 0;             ///< time submit() was blocked by the bound
  std::vector<std::string> losses; ///< one sentence each
};

/// Owns one directory for one session. Threads: any thread may call; submit() order is kept. The
/// worker thread is started by the first submit(). Nothing throws after construction except by
/// contract below: what cannot be written (disk full) is counted as lost, with a sentence, and
/// everything that depends on it is lost with it; earlier instances stay valid. What is captured
/// when the loss can be seen (isLost(), statistics()) depends on nothing of it.
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
  /// The same for many, much cheaper than one by one.
  std::vector<bool> hasChunks(std::span<const Hash128> hashes) const;

  /// True once a submitted snapshot could not be written: what is based on it is lost too, so the
  /// next capture is not.
  bool isLost(uint64_t snapshot) const;

  /// Blocks until `bytes` more fit into the queue, or it is empty. Called before a capture is
  /// copied it keeps the memory in use within queueBytes; submit() alone blocks after the copy.
  void waitForRoom(uint64_t bytes);

  /// Enters a capture that will be submitted: if the process is killed before it is written, the
  /// directory says that it was lost, and how large it was.
  void enterTaken(uint64_t staticHash, const std::string& kernel, const InstanceDraft& draft);

  /// Queues a capture; blocks while more than queueBytes wait. A draft based on a snapshot that was
  /// lost, or never submitted, is lost.
  void submit(uint64_t staticHash, InstanceDraft draft);

  /// Sets the occurrence count written with an instance.
  void setOccurrences(uint64_t staticHash, uint64_t dynamicHash, uint64_t occurrences);
  /// Sets the number of launches written with a kernel.
  void setLaunches(uint64_t staticHash, uint64_t launches);

  /// Notes something that could not be recorded: goes into the session file and the losses.
  void noteLoss(const std::string& sentence);

  /// Waits until nothing is queued or being written.
  void waitUntilWritten() noexcept;
  /// Waits until everything is written and published, then stops the worker. Idempotent.
  void finish() noexcept;
  /// After finish(): what follows belongs to the same session.
  void reopen();
  /// Grows while something is written. Takes no lock.
  uint64_t progress() const noexcept;
  WriterStatistics statistics() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace mneme::artifact
