#include "runtime/core/artifact/snapshot_builder.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/core/artifact/names.h"
#include "runtime/core/artifact/snapshot_file.h"
#include "runtime/core/artifact/table_codec.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"

namespace mneme::artifact {
namespace {

constexpr const char* kLostContent = "it refers to content of a lost recording";

/// Renames without replacing. False if the target exists.
bool renameIfFree(const std::filesystem::path& from, const std::filesystem::path& to) {
#ifdef SYS_renameat2
  constexpr unsigned noReplace = 1; // RENAME_NOREPLACE
  if (syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), noReplace) == 0)
    return true;
  if (errno == EEXIST)
    return false;
#endif
  // File systems without that flag (some network ones): a hard link fails on an existing name.
  if (link(from.c_str(), to.c_str()) == 0) {
    unlink(from.c_str());
    return true;
  }
  if (errno == EEXIST || access(to.c_str(), F_OK) == 0)
    return false;
  if (rename(from.c_str(), to.c_str()) == 0)
    return true;
  throw Error(ErrorCode::IoFailed, systemMessage("cannot publish '" + to.string() + "'", errno));
}

/// Releases slabs in the order in which the content of the items is written.
class SlabReleaser {
public:
  SlabReleaser(const std::vector<ContentItem>& items, std::vector<DraftSlab>& slabs,
               const std::function<void(DraftSlab&)>& release)
      : slabs_(slabs), release_(release), needed_(slabs.size(), 0) {
    for (size_t slab = 0; slab < slabs.size(); ++slab)
      byAddress_[slabs[slab].bytes.data()] = slab;
    for (size_t item = 0; item < items.size(); ++item)
      if (!items[item].bytes.empty())
        if (auto slab = byAddress_.upper_bound(items[item].bytes.data());
            slab != byAddress_.begin())
          needed_[(--slab)->second] = item + 1;
    for (size_t slab = 0; slab < slabs.size(); ++slab)
      order_.emplace(needed_[slab], slab);
    releaseUntil(0);
  }

  /// The first `items` items are written.
  void releaseUntil(size_t items) {
    for (; !order_.empty() && order_.begin()->first <= items; order_.erase(order_.begin()))
      if (DraftSlab& slab = slabs_[order_.begin()->second]; !slab.bytes.empty())
        release_(slab);
  }

private:
  std::vector<DraftSlab>& slabs_;
  const std::function<void(DraftSlab&)>& release_;
  std::vector<size_t> needed_; ///< per slab, until that many items are written
  std::map<const std::byte*, size_t> byAddress_;
  std::multimap<size_t, size_t> order_;
};

} // namespace

SnapshotBuilder::SnapshotBuilder(const std::filesystem::path& directory, const std::string& name,
                                 ChunkIndex& index, PendingChunks& pending, BuilderOptions options)
    : directory_(directory), temporary_(temporaryName(directory / name)),
      file_(open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644)), index_(index),
      pending_(pending), options_(std::move(options)), ownFile_(index.addFile()) {
  if (!file_)
    throw Error(ErrorCode::IoFailed,
                systemMessage("cannot create '" + temporary_.string() + "'", errno));
  layer_->name = name;
}

SnapshotBuilder::~SnapshotBuilder() {
  if (!isPublished_)
    unlink(temporary_.c_str());
}

std::optional<ChunkPlace> SnapshotBuilder::find(const Hash128& hash) const {
  if (const ChunkPlace* found = pending_.places.find(hash))
    return *found;
  return index_.find(hash);
}

std::string SnapshotBuilder::nameOf(uint32_t file) const {
  const auto pending = pending_.names.find(file);
  return pending != pending_.names.end() ? pending->second : index_.fileName(file);
}

uint32_t SnapshotBuilder::fileOf(const std::string& name) const {
  for (const auto& [file, pending] : pending_.names)
    if (pending == name)
      return file;
  return index_.fileId(name);
}

bool SnapshotBuilder::mayReferTo(uint32_t file) const {
  if (options_.storesEverything)
    return false;
  if (!again_.isNeeded)
    return true;
  const auto [found, isNew] = isKept_.try_emplace(file);
  if (isNew)
    found->second = again_.kept.contains(nameOf(file));
  return found->second;
}

std::vector<ContentItem>
SnapshotBuilder::contentToStore(const std::vector<RegionPlan>& plans) const {
  std::vector<ContentItem> items;
  HashMap<size_t> wanted;
  for (const RegionPlan& plan : plans)
    for (const ChunkDraft& chunk : plan.chunks) {
      if (chunk.isZero)
        continue;
      auto place = find(chunk.hash);
      if (place && mayReferTo(place->file))
        continue;
      if (const ChunkPlace* found = place ? nullptr : again_.places.find(chunk.hash))
        place = *found;
      const auto [item, isNew] = wanted.tryEmplace(chunk.hash, items.size());
      if (isNew)
        items.push_back({chunk.hash, chunk.rawBytes, chunk.bytes, place.value_or(ChunkPlace())});
      else if (items[*item].bytes.empty()) // the bytes may come with a later occurrence
        items[*item].bytes = chunk.bytes;
    }
  for (const ContentItem& item : items)
    if (item.bytes.empty() && item.source.storedBytes == 0)
      throw Error(ErrorCode::NotFound, kLostContent);
  return items;
}

std::vector<std::byte> SnapshotBuilder::fetch(const ChunkPlace& place) const {
  const auto temporary = pending_.files.find(place.file);
  const std::filesystem::path path = temporary != pending_.files.end()
                                         ? temporary->second
                                         : directory_ / index_.fileName(place.file);
  const UniqueFd file = openRegularFile(path);
  std::vector<std::byte> stored(place.storedBytes);
  if (!readAt(file.get(), place.offset, stored))
    throw Error(ErrorCode::IoFailed, systemMessage("cannot read '" + path.string() + "'", errno));
  return stored;
}

void SnapshotBuilder::storeContent(const std::vector<ContentItem>& items,
                                   std::vector<DraftSlab>& storage) {
  SlabReleaser releaser(items, storage, options_.release);
  ContentOptions options;
  options.compressionLevel = options_.compressionLevel;
  options.threads = options_.threads;
  options.fetch = [this](const ChunkPlace& place) { return fetch(place); };
  options.onWritten = [&](size_t count) { releaser.releaseUntil(count); };
  const std::vector<StoredItem> stored =
      writeContent(file_, temporary_, sizeof(SnapshotHeader), items, options);
  own_.reserve(items.size());
  contentEnd_ = sizeof(SnapshotHeader);
  for (size_t index = 0; index < items.size(); ++index) {
    const StoredItem& item = stored[index];
    own_.tryEmplace(items[index].hash,
                    {item.offset, ownFile_, item.storedBytes, items[index].rawBytes, item.codec});
    uniqueBytes_ += items[index].rawBytes;
    contentEnd_ = item.offset + item.storedBytes;
  }
}

uint32_t SnapshotBuilder::reference(const std::string& file) {
  auto& names = layer_->table.references;
  const auto [found, isNew] =
      references_.try_emplace(file, static_cast<uint32_t>(names.size() + 1));
  if (isNew)
    names.push_back(file);
  return found->second;
}

uint32_t SnapshotBuilder::reference(uint32_t file) {
  if (file == ownFile_)
    return 0;
  if (const auto found = fileReferences_.find(file); found != fileReferences_.end())
    return found->second;
  return fileReferences_[file] = reference(nameOf(file));
}

void SnapshotBuilder::describe(const ChunkDraft& chunk) {
  SnapshotTable& table = layer_->table;
  if (chunk.isZero)
    return appendZero(table, 1);
  const ChunkPlace* own = own_.find(chunk.hash);
  const auto place = own ? std::optional(*own) : find(chunk.hash);
  if (!place)
    throw Error(ErrorCode::NotFound, kLostContent);
  if (place->rawBytes != chunk.rawBytes)
    throw Error(ErrorCode::Internal, "a captured region has the wrong number of bytes");
  appendStored(table, reference(place->file),
               {chunk.hash, place->offset, place->storedBytes, place->codec});
}

void SnapshotBuilder::describe(const RegionPlan& plan) {
  TableRegion& region = layer_->table.regions.emplace_back();
  region.region = plan.region;
  regions_.push_back(
      chainOf(layer_, static_cast<uint32_t>(layer_->table.regions.size() - 1), plan.base));
  if (plan.base) {
    region.baseFile = reference(plan.base->layer->name);
    region.baseRegion = plan.base->index;
  }
  uint64_t next = 0;
  for (const ChunkDraft& chunk : plan.chunks) {
    if (chunk.index > next)
      appendBase(layer_->table, chunk.index - next);
    describe(chunk);
    next = chunk.index + 1;
  }
  if (const uint64_t count = chunkCount(plan.region.sizeBytes); next < count)
    appendBase(layer_->table, count - next);
}

void SnapshotBuilder::write(std::vector<RegionPlan> plans, std::vector<std::vector<std::byte>> args,
                            std::vector<DraftSlab>& storage) {
  if (!options_.storesEverything)
    again_ = boundContent(plans, *this, layer_->name);
  storeContent(contentToStore(plans), storage);
  layer_->table.args = std::move(args);
  for (const RegionPlan& plan : plans)
    describe(plan);
  writeTable();
  own_.forEach([this](const Hash128& hash, const ChunkPlace& place) {
    *pending_.places.tryEmplace(hash, place).first = place;
  });
  pending_.files[ownFile_] = temporary_;
  pending_.names[ownFile_] = layer_->name;
}

void SnapshotBuilder::writeTable() {
  const std::vector<std::byte> table = encodeTable(layer_->table);
  const SnapshotHeader header = makeHeader(contentEnd_, table);
  decodeTable(table, header, layer_->name); // what a reader would refuse must not be published
  const auto fail = [this](const char* what) {
    throw Error(
        ErrorCode::IoFailed,
        systemMessage(std::string("cannot ") + what + " '" + temporary_.string() + "'", errno));
  };
  if (lseek(file_.get(), static_cast<off_t>(contentEnd_), SEEK_SET) < 0)
    fail("write");
  writeAll(file_.get(), table, temporary_);
  layer_->tableBytes = table.size();
  fileBytes_ = contentEnd_ + table.size();
  if (ftruncate(file_.get(), static_cast<off_t>(fileBytes_)) != 0 ||
      lseek(file_.get(), 0, SEEK_SET) != 0)
    fail("write");
  writeAll(file_.get(), std::as_bytes(std::span(&header, 1)), temporary_);
}

void SnapshotBuilder::rename(const std::string& name) { layer_->name = name; }

void SnapshotBuilder::renameReference(const std::string& from, const std::string& to) {
  auto& names = layer_->table.references;
  const auto found = std::find(names.begin(), names.end(), from);
  if (found == names.end() || from == to)
    return;
  *found = to;
  writeTable();
}

bool SnapshotBuilder::publish() {
  isPublished_ = renameIfFree(temporary_, directory_ / layer_->name);
  if (isPublished_)
    index_.nameFile(ownFile_, layer_->name);
  return isPublished_;
}

void SnapshotBuilder::unpublish() {
  if (::rename((directory_ / layer_->name).c_str(), temporary_.c_str()) != 0)
    throw Error(ErrorCode::IoFailed,
                systemMessage("cannot rename '" + layer_->name + "' again", errno));
  isPublished_ = false;
}

UnsyncedFile SnapshotBuilder::takeFile() { return {std::move(file_), directory_ / layer_->name}; }

void SnapshotBuilder::retract() noexcept {
  std::error_code ignored;
  if (isPublished_)
    std::filesystem::remove(directory_ / layer_->name, ignored);
}

} // namespace mneme::artifact
