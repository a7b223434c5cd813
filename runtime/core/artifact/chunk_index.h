// Room core/artifact (internal): knows where content is stored in one recording directory.
#pragma once

#include <cstdint>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/core/artifact/hash_map.h"
#include "runtime/core/artifact/snapshot_table.h"

namespace mneme::artifact {

/// Where stored content lies.
struct ChunkPlace {
  uint64_t offset = 0;
  uint32_t file = 0;        ///< ChunkIndex::fileName()
  uint32_t storedBytes = 0; ///< 0: announced, not stored yet
  uint32_t rawBytes = 0;
  Codec codec = Codec::Raw;
};

/// Content by hash, either announced (waiting in the queue) or stored in a published file of the
/// directory. Thread-safe.
class ChunkIndex {
public:
  bool contains(const Hash128& hash) const;
  std::vector<bool> contains(std::span<const Hash128> hashes) const;
  void announce(std::span<const Hash128> hashes);
  /// Takes back announcements. Stored content stays.
  void withdraw(std::span<const Hash128> hashes);
  void store(const HashMap<ChunkPlace>& places);
  /// Forgets everything stored in `file`, which will be deleted.
  void forgetFile(const std::string& file);
  std::optional<ChunkPlace> find(const Hash128& hash) const;

  uint32_t fileId(const std::string& name);
  /// Adds a file that gets its name later.
  uint32_t addFile();
  void nameFile(uint32_t file, const std::string& name);
  std::string fileName(uint32_t file) const;

  /// Enters the content that a published snapshot stores itself.
  void learn(const std::string& file, const SnapshotTable& table);

private:
  mutable std::shared_mutex mutex_;
  HashMap<ChunkPlace> entries_;
  std::vector<std::string> files_;
  std::unordered_map<std::string, uint32_t> fileIds_;
};

} // namespace mneme::artifact
