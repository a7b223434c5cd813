// Room artifact (internal): turns one draft into published files. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/artifact/chunk_index.h"
#include "runtime/artifact/record_store.h"
#include "runtime/artifact/writer.h"

namespace mneme::artifact {

struct InstanceCost {
  uint64_t rawBytes = 0;
  uint64_t uniqueBytes = 0;
  uint64_t storedBytes = 0;
};

class InstanceWriter {
public:
  InstanceWriter(const WriterOptions& options, ChunkIndex& index, RecordStore& store)
      : options_(options), index_(index), store_(store) {}

  /// Writes both snapshots and publishes the instance. On failure nothing is left behind.
  /// \throws Error
  InstanceCost write(uint64_t staticHash, const InstanceDraft& draft);

  /// Removes snapshots of this session's kernels that no record needs any more, because an instance
  /// was recorded again. While other sessions record into the directory nothing is removed: the
  /// last one does it.
  void removeOrphans() noexcept;

private:
  bool isSameAsPublished(const InstanceDraft& draft, const Instance& published) const;
  bool writeFiles(uint64_t staticHash, const InstanceDraft& draft, unsigned generation,
                  InstanceCost& cost);
  void publishRecord(uint64_t staticHash, const Instance& instance);

  const WriterOptions& options_;
  ChunkIndex& index_;
  RecordStore& store_;
};

} // namespace mneme::artifact
