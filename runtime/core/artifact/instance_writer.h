// Room core/artifact (internal): turns drafts into published files. One thread.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/core/artifact/chunk_index.h"
#include "runtime/core/artifact/drafts.h"
#include "runtime/core/artifact/ledger.h"
#include "runtime/core/artifact/record_store.h"
#include "runtime/core/artifact/snapshot_builder.h"
#include "runtime/core/artifact/unsynced_files.h"

namespace mneme::artifact {

struct InstanceCost {
  uint64_t rawBytes = 0;
  uint64_t uniqueBytes = 0;
  uint64_t storedBytes = 0;
};

/// An instance whose snapshots have their names; no record has it yet.
struct WrittenInstance {
  uint64_t staticHash = 0;
  Instance instance;
  std::array<uint64_t, 2> snapshots{}; ///< ids of the drafts
  uint64_t prologueBytes = 0;          ///< of memory
  InstanceCost cost;
  std::vector<UnsyncedFile> files;  ///< none if they were published before
  std::set<std::string> references; ///< files that its snapshots need
  std::optional<Instance> before;   ///< what it replaces in the record
  std::string failure;              ///< why it is lost; empty: it is not
};

/// What was published, or lost instead.
struct PublishedBatch {
  std::vector<WrittenInstance> instances;
  std::map<uint64_t, std::string> lostKernels; ///< by static hash, why their files are not there
};

class InstanceWriter {
public:
  /// \param threads  for compression; may change while writing
  /// \param release called for every slab of a draft as soon as it is no longer needed
  InstanceWriter(const WriterOptions& options, const std::atomic<unsigned>& threads,
                 std::function<void(DraftSlab&)> release, ChunkIndex& index, RecordStore& store)
      : options_(options), threads_(threads), release_(std::move(release)), index_(index),
        store_(store) {}

  /// Writes both snapshots. A failure leaves nothing behind, and later drafts that are based on
  /// these snapshots fail, too. \throws Error
  void write(uint64_t staticHash, InstanceDraft& draft);
  bool hasWritten() const { return !written_.empty(); }
  /// Whether enough is written to be published, even if more is to come at once.
  bool isFull() const;
  /// Brings to the disk what is written, then publishes it; a record never names a file that a
  /// power failure could damage. What is lost leaves nothing behind, and what is based on it is
  /// lost, too.
  PublishedBatch publish();

  /// Removes snapshots of this session's kernels that no record needs any more because an instance
  /// was recorded again. Does nothing while other sessions record into the directory; the last one
  /// removes them.
  /// \param ownSession  the file of this session
  void removeOrphans(const std::filesystem::path& ownSession) noexcept;

private:
  std::vector<RegionPlan> plan(const SnapshotDraft& draft, const std::vector<RegionChain>& similar,
                               bool isWhole) const;
  std::optional<std::vector<RegionChain>> publishedTwin(const SnapshotDraft& draft,
                                                        const std::string& file) const;
  bool isPublished(const InstanceDraft& draft, const Instance& published);
  void writeFiles(WrittenInstance& written, InstanceDraft& draft);
  void nameSnapshots(WrittenInstance& written, unsigned generation, SnapshotBuilder& prologue,
                     SnapshotBuilder& epilogue);
  bool isFree(const Instance& instance) const;
  void add(WrittenInstance written);
  void sync(std::vector<WrittenInstance>& batch,
            const std::map<uint64_t, std::string>& lostKernels);
  void enter(std::vector<WrittenInstance>& batch);
  void takeBack(const WrittenInstance& lost, std::vector<WrittenInstance>& batch);
  void settle(const WrittenInstance& written);
  void removeLost(std::vector<WrittenInstance>& batch);

  const WriterOptions& options_;
  const std::atomic<unsigned>& threads_;
  std::function<void(DraftSlab&)> release_;
  ChunkIndex& index_;
  RecordStore& store_;
  Ledger ledger_;
  std::vector<WrittenInstance> written_; ///< not published yet
  uint64_t writtenBytes_ = 0;
  std::chrono::steady_clock::time_point writtenSince_; ///< the first of them
};

} // namespace mneme::artifact
