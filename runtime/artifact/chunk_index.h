// Room artifact (internal): which content is stored where in one recording directory.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/artifact/snapshot_format.h"

namespace mneme::artifact {

/// Where stored content lies: a published file of the directory.
struct ChunkPlace {
  uint32_t file = 0; ///< ChunkIndex::fileName()
  uint64_t offset = 0;
  uint32_t storedBytes = 0;
  uint32_t rawBytes = 0;
  Codec codec = Codec::Raw;
};

/// Content by hash, either announced (waiting in the queue) or stored. Thread-safe.
class ChunkIndex {
public:
  bool contains(const Hash128& hash) const;
  std::vector<bool> contains(std::span<const Hash128> hashes) const;
  void announce(const Hash128& hash);
  void store(const Hash128& hash, const ChunkPlace& place);
  /// Takes back an announcement; stored content stays.
  void withdraw(const Hash128& hash);
  /// Forgets everything stored in `file`, which is about to go.
  void forgetFile(const std::string& file);
  std::optional<ChunkPlace> find(const Hash128& hash) const;

  uint32_t fileId(const std::string& name);
  std::string fileName(uint32_t file) const;

  /// Learns what a published snapshot stores itself.
  void learn(const std::string& file, const SnapshotTable& table);

private:
  struct Entry {
    bool isStored = false;
    ChunkPlace place;
  };
  mutable std::mutex mutex_;
  std::unordered_map<Hash128, Entry> entries_;
  std::vector<std::string> files_;
};

} // namespace mneme::artifact
