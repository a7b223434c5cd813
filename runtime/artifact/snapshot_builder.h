// Room artifact (internal): writes one snapshot file under a temporary name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/artifact/chunk_index.h"
#include "runtime/artifact/snapshot_format.h"
#include "runtime/artifact/writer.h"
#include "runtime/base/file.h"

namespace mneme::artifact {

/// Content stored by the files of one instance that is not published yet.
struct PendingChunks {
  std::unordered_map<Hash128, ChunkPlace> places;
  std::unordered_map<uint32_t, std::filesystem::path> files; ///< file id to temporary name
};

struct BuilderOptions {
  int compressionLevel = 1;
  unsigned threads = 1;
  bool storesEverything = false; ///< refer to no other file
};

/// One snapshot on its way to disk. The temporary file is removed on destruction unless published.
class SnapshotBuilder {
public:
  /// \throws Error{IoFailed}
  SnapshotBuilder(const std::filesystem::path& directory, const std::string& name,
                  ChunkIndex& index, PendingChunks& pending, BuilderOptions options);
  ~SnapshotBuilder();
  SnapshotBuilder(const SnapshotBuilder&) = delete;
  SnapshotBuilder& operator=(const SnapshotBuilder&) = delete;

  /// Writes and syncs everything. New content is entered into the pending chunks.
  /// \throws Error{IoFailed}, Error{NotFound} for content nobody has, Error{Internal} for content
  /// or a region that does not match its description.
  void write(const SnapshotDraft& draft);

  /// Renames the file into place without replacing another; false if the name is taken.
  /// \throws Error{IoFailed}
  bool publish();
  /// Removes the published file again.
  void retract() noexcept;

  uint64_t fileBytes() const noexcept { return fileBytes_; }
  uint64_t uniqueBytes() const noexcept { return uniqueBytes_; }

private:
  using Owners = std::vector<const ChunkDraft*>;
  ChunkRef refer(const ChunkPlace& place, const Hash128& hash);
  ChunkRef locate(const ChunkDraft& chunk);
  std::optional<ChunkPlace> findElsewhere(const Hash128& hash) const;
  void finishFile();
  Owners chunksToStore(const SnapshotDraft& draft) const;
  void storeAll(const Owners& chunks);
  void storeOne(const Hash128& hash, Codec codec, uint32_t rawBytes,
                std::span<const std::byte> stored);
  std::vector<std::byte> fetch(const ChunkPlace& place) const;
  void append(std::span<const std::byte> bytes);
  void flush();

  std::filesystem::path directory_;
  std::string name_;
  std::filesystem::path temporary_;
  UniqueFd file_;
  ChunkIndex& index_;
  PendingChunks& pending_;
  BuilderOptions options_;
  uint32_t ownFile_;
  SnapshotTable table_;
  std::unordered_map<uint32_t, uint32_t> referenceNumbers_;
  std::unordered_map<Hash128, ChunkPlace> own_;
  std::vector<std::byte> buffer_;
  uint64_t fileBytes_ = 0;
  uint64_t uniqueBytes_ = 0;
  bool isPublished_ = false;
};

} // namespace mneme::artifact
