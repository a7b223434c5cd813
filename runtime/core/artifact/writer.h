// Room core/artifact: writes recordings in the background while the application runs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/core/artifact/drafts.h"

namespace mneme::artifact {

struct WriterStatistics {
  uint64_t instancesWritten = 0;
  uint64_t instancesLost = 0;
  uint64_t rawBytes = 0;           ///< size of the memory that the snapshots describe
  uint64_t uniqueBytes = 0;        ///< distinct content
  uint64_t storedBytes = 0;        ///< on disk
  uint64_t waitNs = 0;             ///< time for which the bound blocked submit()
  std::vector<std::string> losses; ///< one sentence each
};

/// Owns one directory for one session. Any thread may call; the order of submit() is kept. The
/// first submit() starts the worker thread. After construction nothing throws unless stated below.
/// An instance that cannot be written, because the disk is full for example, is counted as lost,
/// with a message, together with all that depends on it; earlier instances stay valid. A capture
/// that begins after isLost() or statistics() shows the loss does not depend on the lost data.
class RecordingWriter {
public:
  /// Creates the directory if needed. Existing records of the same kernels are extended: instances
  /// with other dynamic hashes are kept, those recorded again are replaced.
  /// \throws Error{IoFailed} if the directory cannot be created or written.
  explicit RecordingWriter(WriterOptions options);
  ~RecordingWriter(); ///< finish()

  /// Announces a kernel before its first instance: writes `RecordedIR_<hash>.bc` per module.
  void addKernel(const KernelRecord& record, const std::vector<std::vector<std::byte>>& modules);

  /// Whether content with this hash is stored or waits in the queue, so that the caller need not
  /// copy it. submit() adds the hashes of chunks that have bytes.
  bool hasChunk(const Hash128& hash) const;
  /// The same for many hashes, much cheaper than one by one.
  std::vector<bool> hasChunks(std::span<const Hash128> hashes) const;

  /// Whether a submitted snapshot could not be written. Drafts based on it are lost, too, so the
  /// next capture must not be based on it.
  bool isLost(uint64_t snapshot) const;

  /// Blocks until `bytes` more fit into the queue, or it is empty. Call it before a capture is
  /// copied to keep the memory in use within queueBytes; submit() blocks only after the copy.
  void waitForRoom(uint64_t bytes);

  /// Announces a capture that will be submitted. If the process is killed before it is written, the
  /// directory shows that it was lost, and its size.
  void enterTaken(uint64_t staticHash, const std::string& kernel, const InstanceDraft& draft);

  /// Queues a capture; blocks while more than queueBytes wait. A draft is lost if its base was lost
  /// or never submitted.
  void submit(uint64_t staticHash, InstanceDraft draft);

  /// Sets the occurrence count written with an instance.
  void setOccurrences(uint64_t staticHash, uint64_t dynamicHash, uint64_t occurrences);
  /// Sets the number of launches written with a kernel.
  void setLaunches(uint64_t staticHash, uint64_t launches);

  /// Notes something that could not be recorded, in the session file and in the losses.
  void noteLoss(const std::string& sentence);

  /// Waits until nothing is queued or being written.
  void waitUntilWritten() noexcept;
  /// Waits until everything is written and published, then stops the worker. Idempotent.
  void finish() noexcept;
  /// Call it after finish() to continue the same session.
  void reopen();
  /// A counter that grows while something is written. Takes no lock.
  uint64_t progress() const noexcept;
  WriterStatistics statistics() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace mneme::artifact
