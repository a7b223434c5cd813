// Room core/artifact (internal): writes one snapshot file under a temporary name.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/core/artifact/chunk_index.h"
#include "runtime/core/artifact/content_writer.h"
#include "runtime/core/artifact/drafts.h"
#include "runtime/core/artifact/layers.h"
#include "runtime/core/artifact/ledger.h"
#include "runtime/core/artifact/needed_files.h"
#include "runtime/core/artifact/unsynced_files.h"
#include "runtime/core/base/file.h"

namespace mneme::artifact {

/// Content stored by the files of one instance that is not published yet.
struct PendingChunks {
  HashMap<ChunkPlace> places;
  std::unordered_map<uint32_t, std::filesystem::path> files; ///< file id to temporary name
  std::unordered_map<uint32_t, std::string> names;           ///< file id to name
};

struct BuilderOptions {
  int compressionLevel = 1;
  const std::atomic<unsigned>* threads = nullptr;
  bool storesEverything = false;                ///< whether files may not refer to other files
  std::function<void(DraftSlab& slab)> release; ///< called when a slab is no longer needed
};

/// One snapshot that is being written. The destructor removes the temporary file unless it was
/// published.
class SnapshotBuilder : ContentPlaces {
public:
  /// \param name name of the file, unless another process takes it before it is published
  /// \throws Error{IoFailed}
  SnapshotBuilder(const std::filesystem::path& directory, const std::string& name,
                  ChunkIndex& index, PendingChunks& pending, BuilderOptions options);
  ~SnapshotBuilder() override;
  SnapshotBuilder(const SnapshotBuilder&) = delete;
  SnapshotBuilder& operator=(const SnapshotBuilder&) = delete;

  /// Writes everything. New content is entered into the pending chunks. Refers to content
  /// in other files as far as boundContent() allows. Releases the slabs: the chunks' bytes are gone
  /// afterwards.
  /// \throws Error{IoFailed}, Error{NotFound} for content that no file has, Error{Internal} for
  /// content that does not match its description.
  void write(std::vector<RegionPlan> plans, std::vector<std::vector<std::byte>> args,
             std::vector<DraftSlab>& storage);

  /// Changes the name of the file, and of a file it refers to. \throws Error{IoFailed}
  void rename(const std::string& name);
  void renameReference(const std::string& from, const std::string& to);

  /// Renames the file into place without replacing another. Returns false if the name is taken.
  /// \throws Error{IoFailed}
  bool publish();
  /// Undoes publish(), so that the file can be published under another name. \throws
  /// Error{IoFailed}
  void unpublish();
  /// Gives away the published file, which is not synced.
  UnsyncedFile takeFile();
  /// Removes the published file again.
  void retract() noexcept;

  std::shared_ptr<const Layer> layer() const noexcept { return layer_; }
  const std::vector<RegionChain>& regions() const noexcept { return regions_; }
  uint64_t fileBytes() const noexcept { return fileBytes_; }
  uint64_t uniqueBytes() const noexcept { return uniqueBytes_; }

private:
  std::vector<ContentItem> contentToStore(const std::vector<RegionPlan>& plans) const;
  void storeContent(const std::vector<ContentItem>& items, std::vector<DraftSlab>& storage);
  std::optional<ChunkPlace> find(const Hash128& hash) const override;
  std::string nameOf(uint32_t file) const override;
  uint32_t fileOf(const std::string& name) const override;
  bool mayReferTo(uint32_t file) const;
  std::vector<std::byte> fetch(const ChunkPlace& place) const;
  void describe(const RegionPlan& plan);
  void describe(const ChunkDraft& chunk);
  uint32_t reference(const std::string& file);
  uint32_t reference(uint32_t file);
  void writeTable();

  std::filesystem::path directory_;
  std::filesystem::path temporary_;
  UniqueFd file_;
  ChunkIndex& index_;
  PendingChunks& pending_;
  BuilderOptions options_;
  uint32_t ownFile_;
  std::shared_ptr<Layer> layer_ = std::make_shared<Layer>();
  std::vector<RegionChain> regions_;
  StoreAgain again_;
  mutable std::unordered_map<uint32_t, bool> isKept_;     ///< by file id
  std::map<std::string, uint32_t> references_;            ///< file name to its number in the table
  std::unordered_map<uint32_t, uint32_t> fileReferences_; ///< the same by file id
  HashMap<ChunkPlace> own_;
  uint64_t contentEnd_ = 0;
  uint64_t fileBytes_ = 0;
  uint64_t uniqueBytes_ = 0;
  bool isPublished_ = false;
};

} // namespace mneme::artifact
