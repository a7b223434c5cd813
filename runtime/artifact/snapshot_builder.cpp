#include "runtime/artifact/snapshot_builder.h"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/artifact/chunk_codec.h"
#include "runtime/artifact/names.h"
#include "runtime/artifact/parallel.h"
#include "runtime/artifact/snapshot_file.h"
#include "runtime/base/error.h"

namespace mneme::artifact {
namespace {

constexpr size_t kWriteBytes = 1 << 20;
/// Chunks compressed together: bounds the memory for compressed content.
constexpr size_t kBatchChunks = 256;

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

} // namespace

SnapshotBuilder::SnapshotBuilder(const std::filesystem::path& directory, const std::string& name,
                                 ChunkIndex& index, PendingChunks& pending, BuilderOptions options)
    : directory_(directory), name_(name), temporary_(temporaryName(directory / name)),
      file_(open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644)), index_(index),
      pending_(pending), options_(options), ownFile_(index.fileId(name)) {
  if (!file_)
    throw Error(ErrorCode::IoFailed,
                systemMessage("cannot create '" + temporary_.string() + "'", errno));
}

SnapshotBuilder::~SnapshotBuilder() {
  if (!isPublished_)
    unlink(temporary_.c_str());
}

void SnapshotBuilder::flush() {
  writeAll(file_.get(), buffer_, temporary_);
  buffer_.clear();
}

void SnapshotBuilder::append(std::span<const std::byte> bytes) {
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  fileBytes_ += bytes.size();
  if (buffer_.size() >= kWriteBytes)
    flush();
}

std::optional<ChunkPlace> SnapshotBuilder::findElsewhere(const Hash128& hash) const {
  if (const auto found = pending_.places.find(hash); found != pending_.places.end())
    return found->second;
  return index_.find(hash);
}

SnapshotBuilder::Owners SnapshotBuilder::chunksToStore(const SnapshotDraft& draft) const {
  std::unordered_map<Hash128, const ChunkDraft*> wanted;
  Owners order;
  for (const RegionDraft& region : draft.regions)
    for (const ChunkDraft& chunk : region.chunks)
      if (!chunk.isZero && (options_.storesEverything || !findElsewhere(chunk.hash)) &&
          wanted.try_emplace(chunk.hash, &chunk).second)
        order.push_back(&chunk);
  // The bytes may come with a later occurrence of the same content.
  for (const RegionDraft& region : draft.regions)
    for (const ChunkDraft& chunk : region.chunks)
      if (!chunk.bytes.empty())
        if (const auto found = wanted.find(chunk.hash); found != wanted.end())
          found->second = &chunk;
  for (const ChunkDraft*& chunk : order)
    chunk = wanted[chunk->hash];
  return order;
}

std::vector<std::byte> SnapshotBuilder::fetch(const ChunkPlace& place) const {
  const auto temporary = pending_.files.find(place.file);
  const std::filesystem::path path = temporary != pending_.files.end()
                                         ? temporary->second
                                         : directory_ / index_.fileName(place.file);
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::vector<std::byte> stored(place.storedBytes);
  if (!file || !readAt(file.get(), place.offset, stored))
    throw Error(ErrorCode::IoFailed, systemMessage("cannot read '" + path.string() + "'", errno));
  return stored;
}

void SnapshotBuilder::storeOne(const Hash128& hash, Codec codec, uint32_t rawBytes,
                               std::span<const std::byte> stored) {
  const ChunkPlace place{ownFile_, fileBytes_, static_cast<uint32_t>(stored.size()), rawBytes,
                         codec};
  append(stored);
  uniqueBytes_ += rawBytes;
  own_[hash] = place;
}

void SnapshotBuilder::storeAll(const Owners& chunks) {
  for (size_t begin = 0; begin < chunks.size(); begin += kBatchChunks) {
    const size_t count = std::min(kBatchChunks, chunks.size() - begin);
    std::vector<StoredChunk> stored(count);
    parallelFor(count, options_.threads, [&](uint64_t index) {
      const ChunkDraft& chunk = *chunks[begin + index];
      if (chunk.bytes.empty())
        return;
      if (chunk.bytes.size() != chunk.rawBytes || hash128(chunk.bytes) != chunk.hash)
        throw Error(ErrorCode::Internal, "memory changed while it was captured");
      stored[index] = compressChunk(chunk.bytes, options_.compressionLevel);
    });
    for (size_t index = 0; index < count; ++index) {
      const ChunkDraft& chunk = *chunks[begin + index];
      if (!chunk.bytes.empty()) {
        const bool isRaw = stored[index].codec == Codec::Raw;
        storeOne(chunk.hash, stored[index].codec, chunk.rawBytes,
                 isRaw ? chunk.bytes : std::span<const std::byte>(stored[index].bytes));
      } else if (const auto place = findElsewhere(chunk.hash)) {
        storeOne(chunk.hash, place->codec, place->rawBytes, fetch(*place));
      } else {
        throw Error(ErrorCode::NotFound, "it refers to content of a lost recording");
      }
    }
  }
}

ChunkRef SnapshotBuilder::refer(const ChunkPlace& place, const Hash128& hash) {
  ChunkRef ref{hash, place.offset, place.storedBytes, place.rawBytes, 0, place.codec};
  if (place.file == ownFile_)
    return ref;
  const auto [found, isNew] = referenceNumbers_.try_emplace(
      place.file, static_cast<uint32_t>(table_.references.size() + 1));
  if (isNew)
    table_.references.push_back(index_.fileName(place.file));
  ref.file = found->second;
  return ref;
}

ChunkRef SnapshotBuilder::locate(const ChunkDraft& chunk) {
  if (chunk.isZero)
    return {zeroHash(chunk.rawBytes), 0, 0, chunk.rawBytes, 0, Codec::Zero};
  if (const auto own = own_.find(chunk.hash); own != own_.end())
    return refer(own->second, chunk.hash);
  if (const auto place = findElsewhere(chunk.hash))
    return refer(*place, chunk.hash);
  throw Error(ErrorCode::NotFound, "it refers to content of a lost recording");
}

void SnapshotBuilder::write(const SnapshotDraft& draft) {
  const SnapshotHeader blank{};
  append(std::as_bytes(std::span(&blank, 1)));
  storeAll(chunksToStore(draft));
  table_.args = draft.args;
  for (const RegionDraft& region : draft.regions) {
    table_.regions.push_back(region.region);
    const uint64_t count = chunkCount(region.region.sizeBytes);
    for (uint64_t index = 0; index < region.chunks.size(); ++index) {
      const ChunkDraft& chunk = region.chunks[index];
      if (region.chunks.size() != count ||
          chunk.rawBytes != chunkSize(region.region.sizeBytes, index))
        throw Error(ErrorCode::Internal, "a captured region has the wrong number of bytes");
      table_.chunks.push_back(locate(chunk));
    }
  }
  finishFile();
  pending_.places.insert(own_.begin(), own_.end());
  pending_.files[ownFile_] = temporary_;
}

void SnapshotBuilder::finishFile() {
  const std::vector<std::byte> table = encodeTable(table_);
  const SnapshotHeader header = makeHeader(fileBytes_, table);
  decodeTable(table, header, name_); // what a reader would refuse must not be published
  append(table);
  flush();
  if (lseek(file_.get(), 0, SEEK_SET) != 0)
    throw Error(ErrorCode::IoFailed,
                systemMessage("cannot write '" + temporary_.string() + "'", errno));
  writeAll(file_.get(), std::as_bytes(std::span(&header, 1)), temporary_);
  if (fsync(file_.get()) != 0)
    throw Error(ErrorCode::IoFailed,
                systemMessage("cannot sync '" + temporary_.string() + "'", errno));
}

bool SnapshotBuilder::publish() {
  isPublished_ = renameIfFree(temporary_, directory_ / name_);
  file_ = UniqueFd();
  return isPublished_;
}

void SnapshotBuilder::retract() noexcept {
  std::error_code ignored;
  if (isPublished_)
    std::filesystem::remove(directory_ / name_, ignored);
}

} // namespace mneme::artifact
