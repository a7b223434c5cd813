// Room core/artifact (internal): turns one draft into published files. One thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/core/artifact/chunk_index.h"
#include "runtime/core/artifact/drafts.h"
#include "runtime/core/artifact/ledger.h"
#include "runtime/core/artifact/record_store.h"
#include "runtime/core/artifact/snapshot_builder.h"

namespace mneme::artifact {

struct InstanceCost {
  uint64_t rawBytes = 0;
  uint64_t uniqueBytes = 0;
  uint64_t storedBytes = 0;
};

class InstanceWriter {
public:
  /// \param threads  for compression; may change while writing
  /// \param release called for every slab of a draft as soon as it is no longer needed
  InstanceWriter(const WriterOptions& options, const std::atomic<unsigned>& threads,
                 std::function<void(DraftSlab&)> release, ChunkIndex& index, RecordStore& store)
      : options_(options), threads_(threads), release_(std::move(release)), index_(index),
        store_(store) {}

  /// Writes both snapshots and publishes the instance. A failure leaves nothing behind, and later
  /// drafts that are based on these snapshots fail, too. \throws Error
  InstanceCost write(uint64_t staticHash, InstanceDraft& draft);

  /// Removes snapshots of this session's kernels that no record needs any more because an instance
  /// was recorded again. Does nothing while other sessions record into the directory; the last one
  /// removes them.
  void removeOrphans() noexcept;

private:
  std::vector<RegionPlan> plan(const SnapshotDraft& draft, const std::vector<RegionChain>& similar,
                               bool isWhole) const;
  std::optional<std::vector<RegionChain>> publishedTwin(const SnapshotDraft& draft,
                                                        const std::string& file) const;
  bool isPublished(const InstanceDraft& draft, const Instance& published);
  InstanceCost writeFiles(uint64_t staticHash, InstanceDraft& draft);
  void publishFiles(uint64_t staticHash, Instance instance, unsigned generation,
                    SnapshotBuilder& prologue, SnapshotBuilder& epilogue);
  void settle(const InstanceDraft& draft);
  bool isFree(const Instance& instance) const;
  void publishRecord(uint64_t staticHash, const Instance& instance);

  const WriterOptions& options_;
  const std::atomic<unsigned>& threads_;
  std::function<void(DraftSlab&)> release_;
  ChunkIndex& index_;
  RecordStore& store_;
  Ledger ledger_;
};

} // namespace mneme::artifact
