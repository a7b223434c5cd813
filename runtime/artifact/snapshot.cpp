#include "runtime/artifact/snapshot.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "runtime/artifact/chunk_codec.h"
#include "runtime/artifact/parallel.h"
#include "runtime/artifact/snapshot_file.h"
#include "runtime/base/error.h"

namespace mneme::artifact {
namespace {

/// Content from which on one read is spread over threads.
constexpr uint64_t kParallelReadBytes = 4ull << 20;

} // namespace

struct Snapshot::Impl {
  std::filesystem::path path;
  SnapshotFile own;
  SnapshotTable table;
  mutable std::mutex mutex;
  mutable std::map<uint32_t, SnapshotFile> referenced; ///< opened on first use

  const SnapshotFile& fileOf(const ChunkRef& chunk) const {
    if (chunk.file == 0)
      return own;
    const std::lock_guard lock(mutex);
    auto found = referenced.find(chunk.file);
    if (found == referenced.end())
      found = referenced
                  .emplace(chunk.file,
                           openSnapshotFile(path.parent_path() / table.references[chunk.file - 1]))
                  .first;
    return found->second;
  }

  std::string describe(size_t region, uint64_t chunk) const {
    return "chunk " + std::to_string(chunk) + " of region " + std::to_string(region) + " in '" +
           path.string() + "'";
  }

  void readChunk(size_t region, uint64_t index, std::span<std::byte> out) const {
    const ChunkRef& chunk = table.chunks[table.firstChunk[region] + index];
    if (chunk.codec == Codec::Zero) {
      std::memset(out.data(), 0, out.size());
      return;
    }
    const SnapshotFile& file = fileOf(chunk);
    if (chunk.offset + chunk.storedBytes > file.header.tableOffset)
      throw Error(ErrorCode::ArtifactCorrupt, describe(region, index) + " lies outside '" +
                                                  table.references[chunk.file - 1] +
                                                  "', which is not the file it was");
    thread_local std::vector<std::byte> stored;
    stored.resize(chunk.storedBytes);
    if (!readAt(file.descriptor.get(), chunk.offset, stored))
      throw Error(ErrorCode::IoFailed,
                  systemMessage("cannot read " + describe(region, index), errno));
    if (!decodeChunk(chunk.codec, stored, out) || hash128(out) != chunk.hash)
      throw Error(
          ErrorCode::ArtifactCorrupt,
          describe(region, index) + " is damaged: its checksum does not match" +
              (chunk.file ? " (stored in '" + table.references[chunk.file - 1] + "')" : ""));
  }

  /// Reads the part of chunk `index` that lies in [offset, offset + out.size()) of its region.
  void readPart(size_t region, uint64_t index, uint64_t offset, std::span<std::byte> out) const {
    const uint64_t begin = index * kChunkBytes;
    const uint32_t size = chunkSize(table.regions[region].sizeBytes, index);
    const uint64_t from = std::max(begin, offset);
    const uint64_t to = std::min(begin + size, offset + out.size());
    const auto place = out.subspan(from - offset, to - from);
    if (place.size() == size)
      return readChunk(region, index, place);
    thread_local std::vector<std::byte> whole;
    whole.resize(size);
    readChunk(region, index, whole);
    std::memcpy(place.data(), whole.data() + (from - begin), place.size());
  }
};

Snapshot::Snapshot(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Snapshot::Snapshot(Snapshot&&) noexcept = default;
Snapshot& Snapshot::operator=(Snapshot&&) noexcept = default;
Snapshot::~Snapshot() = default;

Snapshot Snapshot::open(const std::filesystem::path& path) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->own = openSnapshotFile(path);
  impl->table = readTable(impl->own, path);
  return Snapshot(std::move(impl));
}

const std::vector<Region>& Snapshot::regions() const noexcept { return impl_->table.regions; }

const std::vector<std::vector<std::byte>>& Snapshot::args() const noexcept {
  return impl_->table.args;
}

const std::vector<std::string>& Snapshot::references() const noexcept {
  return impl_->table.references;
}

SnapshotSizes Snapshot::sizes() const noexcept {
  SnapshotSizes sizes;
  sizes.storedBytes = impl_->own.header.fileBytes;
  std::vector<std::pair<uint64_t, uint32_t>> stored;
  for (const ChunkRef& chunk : impl_->table.chunks) {
    sizes.rawBytes += chunk.rawBytes;
    if (chunk.file == 0 && chunk.codec != Codec::Zero)
      stored.emplace_back(chunk.offset, chunk.rawBytes);
  }
  std::sort(stored.begin(), stored.end());
  stored.erase(std::unique(stored.begin(), stored.end()), stored.end());
  for (const auto& [offset, rawBytes] : stored)
    sizes.uniqueBytes += rawBytes;
  return sizes;
}

void Snapshot::read(size_t index, uint64_t offset, std::span<std::byte> out) const {
  const auto& regions = impl_->table.regions;
  if (index >= regions.size() || offset > regions[index].sizeBytes ||
      out.size() > regions[index].sizeBytes - offset)
    throw Error(ErrorCode::OutOfRange, "a read of " + std::to_string(out.size()) +
                                           " bytes at offset " + std::to_string(offset) +
                                           " leaves region " + std::to_string(index) + " of '" +
                                           impl_->path.string() + "'");
  if (out.empty())
    return;
  const uint64_t first = offset / kChunkBytes;
  const uint64_t last = (offset + out.size() - 1) / kChunkBytes;
  parallelFor(last - first + 1, out.size() >= kParallelReadBytes ? readerThreads() : 1,
              [&](uint64_t step) { impl_->readPart(index, first + step, offset, out); });
}

std::vector<Hash128> Snapshot::chunkHashes(size_t index) const {
  const SnapshotTable& table = impl_->table;
  if (index >= table.regions.size())
    throw Error(ErrorCode::OutOfRange,
                "'" + impl_->path.string() + "' has no region " + std::to_string(index));
  std::vector<Hash128> hashes;
  for (uint64_t chunk = table.firstChunk[index]; chunk < table.firstChunk[index + 1]; ++chunk)
    hashes.push_back(table.chunks[chunk].hash);
  return hashes;
}

void Snapshot::verifyAll() const {
  const SnapshotTable& table = impl_->table;
  parallelFor(table.chunks.size(), readerThreads(), [&](uint64_t chunk) {
    const auto after = std::upper_bound(table.firstChunk.begin(), table.firstChunk.end(), chunk);
    const auto region = static_cast<size_t>(after - table.firstChunk.begin()) - 1;
    thread_local std::vector<std::byte> content;
    content.resize(table.chunks[chunk].rawBytes);
    impl_->readChunk(region, chunk - table.firstChunk[region], content);
  });
}

std::vector<ChangedRange> changedRanges(const Snapshot& prologue, const Snapshot& epilogue,
                                        size_t index) {
  const Region& region = epilogue.regions().at(index);
  const auto& before = prologue.regions();
  const auto twin = std::find_if(before.begin(), before.end(), [&](const Region& candidate) {
    return candidate.address == region.address && candidate.sizeBytes == region.sizeBytes;
  });
  if (twin == before.end())
    return {{0, region.sizeBytes}};
  const auto old = prologue.chunkHashes(static_cast<size_t>(twin - before.begin()));
  const auto now = epilogue.chunkHashes(index);
  std::vector<ChangedRange> ranges;
  for (uint64_t chunk = 0; chunk < now.size(); ++chunk) {
    if (old[chunk] == now[chunk])
      continue;
    const uint64_t offset = chunk * kChunkBytes;
    const uint64_t size = chunkSize(region.sizeBytes, chunk);
    if (!ranges.empty() && ranges.back().offset + ranges.back().sizeBytes == offset)
      ranges.back().sizeBytes += size;
    else
      ranges.push_back({offset, size});
  }
  return ranges;
}

} // namespace mneme::artifact
