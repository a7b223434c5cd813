#include "runtime/core/artifact/snapshot.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "runtime/core/artifact/chunk_codec.h"
#include "runtime/core/artifact/layers.h"
#include "runtime/core/artifact/stored_content.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/parallel.h"

namespace mneme::artifact {
namespace {

/// Content from which on one read is spread over threads.
constexpr uint64_t kParallelReadBytes = 4ull << 20;
/// Read with one call where it lies side by side; also the unit of work of one thread.
constexpr uint64_t kPieceChunks = 16;
/// Other files kept open; content of many of them may be wanted in turn, and a process may have no
/// more than 1024 in all.
constexpr size_t kMaxOpenFiles = 128;
/// Hashes of a larger region (16 TiB) are not handed out in one vector.
constexpr uint64_t kMaxHashes = 1ull << 28;

/// Chunks of one region whose content lies side by side in one file.
struct Piece {
  size_t region = 0;
  uint64_t first = 0;
  uint64_t count = 0;
  const ChunkRef* refs = nullptr; ///< null: zeros
  const std::string* file = nullptr;
};

/// Sorts ranges, and joins those that touch.
std::vector<ByteRange> joined(std::vector<ByteRange> ranges) {
  std::ranges::sort(ranges, {}, &ByteRange::offset);
  std::vector<ByteRange> all;
  for (const ByteRange& range : ranges)
    if (!all.empty() && range.offset <= all.back().offset + all.back().sizeBytes)
      all.back().sizeBytes =
          std::max(all.back().sizeBytes, range.offset + range.sizeBytes - all.back().offset);
    else
      all.push_back(range);
  return all;
}

} // namespace

struct Snapshot::Impl {
  std::filesystem::path path;
  std::shared_ptr<const SnapshotFile> own;
  std::shared_ptr<const Layer> layer;
  std::vector<Region> regions;
  std::vector<RegionChain> chains;          ///< per region
  std::vector<std::vector<Extent>> extents; ///< the same
  size_t tables = 0;
  uint64_t tableBytes = 0;
  mutable std::mutex mutex;
  mutable std::map<std::string, std::shared_ptr<const SnapshotFile>> referenced; ///< on first use

  /// Only the file itself, whose table says what it stores.
  static std::unique_ptr<Impl> alone(const std::filesystem::path& path, LayerLoader& loader) {
    auto impl = std::make_unique<Impl>();
    impl->path = path;
    impl->own = std::make_shared<const SnapshotFile>(openSnapshotFile(path));
    impl->layer = loader.load(path.filename().string(), *impl->own);
    for (const TableRegion& region : impl->layer->table.regions)
      impl->regions.push_back(region.region);
    return impl;
  }

  std::shared_ptr<const SnapshotFile> fileOf(const std::string& name) const {
    if (name == layer->name)
      return own;
    const std::lock_guard lock(mutex);
    if (const auto found = referenced.find(name); found != referenced.end())
      return found->second;
    if (referenced.size() >= kMaxOpenFiles)
      referenced.clear(); // who reads from one has its own share of it
    return referenced[name] =
               std::make_shared<const SnapshotFile>(openSnapshotFile(path.parent_path() / name));
  }

  std::string describe(size_t region, uint64_t chunk) const {
    return "chunk " + std::to_string(chunk) + " of region " + std::to_string(region) + " in '" +
           path.string() + "'";
  }

  void checkRegion(size_t region) const {
    if (region >= regions.size())
      throw Error(ErrorCode::OutOfRange,
                  "'" + path.string() + "' has no region " + std::to_string(region));
  }

  /// Index of the extent that holds a chunk.
  size_t extentAt(size_t region, uint64_t chunk) const {
    const auto& all = extents[region];
    const auto after =
        std::upper_bound(all.begin(), all.end(), chunk,
                         [](uint64_t value, const Extent& extent) { return value < extent.first; });
    return static_cast<size_t>(after - all.begin()) - 1;
  }

  /// The chunks [first, stop) of an extent, cut where their content does not lie side by side.
  static void cut(std::vector<Piece>& pieces, size_t region, const Extent& extent, uint64_t first,
                  uint64_t stop) {
    while (first < stop) {
      Piece piece{region, first, 1, nullptr, extent.file};
      if (extent.refs) {
        const ChunkRef* refs = piece.refs = extent.refs + (first - extent.first);
        while (piece.count < std::min(kPieceChunks, stop - first) &&
               refs[piece.count - 1].offset + refs[piece.count - 1].storedBytes ==
                   refs[piece.count].offset)
          ++piece.count;
      } else {
        piece.count = std::min(kPieceChunks, stop - first);
      }
      first += piece.count;
      pieces.push_back(piece);
    }
  }

  /// The same for the chunks [first, end) of a region.
  void addPieces(std::vector<Piece>& pieces, size_t region, uint64_t first, uint64_t end) const {
    for (size_t at = extentAt(region, first); first < end; ++at) {
      const Extent& extent = extents[region][at];
      const uint64_t stop = std::min(end, extent.first + extent.count);
      cut(pieces, region, extent, first, stop);
      first = stop;
    }
  }

  /// Reads what a piece has in its file, `out.size()` bytes.
  void fetch(const Piece& piece, std::span<std::byte> out) const {
    const std::shared_ptr<const SnapshotFile> file = fileOf(*piece.file);
    if (piece.refs->offset + out.size() > file->header.tableOffset)
      throw Error(ErrorCode::ArtifactCorrupt, describe(piece.region, piece.first) +
                                                  " lies outside '" + *piece.file +
                                                  "', which is not the file it was");
    if (!readAt(file->descriptor.get(), piece.refs->offset, out))
      throw Error(ErrorCode::IoFailed,
                  systemMessage("cannot read " + describe(piece.region, piece.first), errno));
  }

  /// The same into a buffer of the thread, valid until the next call.
  std::span<const std::byte> fetch(const Piece& piece) const {
    const ChunkRef& last = piece.refs[piece.count - 1];
    thread_local std::vector<std::byte> stored;
    const uint64_t size = last.offset + last.storedBytes - piece.refs->offset;
    if (stored.size() < size)
      stored.resize(size);
    const auto target = std::span(stored).first(size);
    fetch(piece, target);
    return target;
  }

  [[noreturn]] void damaged(const Piece& piece, uint64_t index) const {
    throw Error(ErrorCode::ArtifactCorrupt,
                describe(piece.region, piece.first + index) +
                    " is damaged: its checksum does not match" +
                    (*piece.file != layer->name ? " (stored in '" + *piece.file + "')" : ""));
  }

  void decode(const Piece& piece, uint64_t index, std::span<const std::byte> stored,
              std::span<std::byte> out) const {
    const ChunkRef& ref = piece.refs[index];
    if (!decodeChunk(ref.codec, stored.subspan(ref.offset - piece.refs->offset, ref.storedBytes),
                     out) ||
        hash128(out) != ref.hash)
      damaged(piece, index);
  }

  /// Reads a piece of raw chunks to where it belongs; false if it is none, or not wholly wanted.
  bool readRaw(const Piece& piece, uint64_t offset, std::span<std::byte> out) const {
    const uint64_t begin = piece.first * kChunkBytes;
    const uint64_t end =
        std::min(begin + piece.count * kChunkBytes, regions[piece.region].sizeBytes);
    if (begin < offset || end > offset + out.size() ||
        std::any_of(piece.refs, piece.refs + piece.count,
                    [](const ChunkRef& ref) { return ref.codec != Codec::Raw; }))
      return false;
    const auto target = out.subspan(begin - offset, end - begin);
    fetch(piece, target);
    for (uint64_t index = 0; index < piece.count; ++index)
      if (const ChunkRef& ref = piece.refs[index];
          hash128(target.subspan(index * kChunkBytes, ref.storedBytes)) != ref.hash)
        damaged(piece, index);
    return true;
  }

  /// Reads the part of a piece that lies in [offset, offset + out.size()) of its region.
  void read(const Piece& piece, uint64_t offset, std::span<std::byte> out) const {
    if (piece.refs && readRaw(piece, offset, out))
      return;
    const std::span<const std::byte> stored =
        piece.refs ? fetch(piece) : std::span<const std::byte>();
    for (uint64_t index = 0; index < piece.count; ++index) {
      const uint64_t begin = (piece.first + index) * kChunkBytes;
      const uint32_t size = chunkSize(regions[piece.region].sizeBytes, piece.first + index);
      const uint64_t from = std::max(begin, offset);
      const uint64_t to = std::min(begin + size, offset + out.size());
      const auto place = out.subspan(from - offset, to - from);
      if (!piece.refs) {
        std::memset(place.data(), 0, place.size());
      } else if (place.size() == size) {
        decode(piece, index, stored, place);
      } else {
        thread_local std::vector<std::byte> whole;
        whole.resize(size);
        decode(piece, index, stored, whole);
        std::memcpy(place.data(), whole.data() + (from - begin), place.size());
      }
    }
  }

  /// Reads and checks pieces, in parallel.
  void verify(const std::vector<Piece>& pieces) const {
    parallelFor(pieces.size(), readerThreads(), [&](uint64_t at) {
      const Piece& piece = pieces[at];
      const auto stored = fetch(piece);
      thread_local std::vector<std::byte> content;
      for (uint64_t index = 0; index < piece.count; ++index) {
        content.resize(chunkSize(regions[piece.region].sizeBytes, piece.first + index));
        decode(piece, index, stored, content);
      }
    });
  }

  /// Checks that the file an extent refers to stores that content there itself.
  void checkPlaces(std::map<std::string, StoredContent>& others, size_t region,
                   const Extent& extent) const {
    auto found = others.find(*extent.file);
    if (found == others.end()) {
      const std::filesystem::path other = path.parent_path() / *extent.file;
      found = others.emplace(*extent.file, StoredContent(readTable(openSnapshotFile(other), other)))
                  .first;
    }
    for (uint64_t index = 0; index < extent.count; ++index)
      if (!found->second.holds(extent.refs[index]))
        throw Error(ErrorCode::ArtifactCorrupt, describe(region, extent.first + index) +
                                                    " lies outside '" + *extent.file +
                                                    "', which is not the file it was");
  }

  /// Calls visit(first chunk, count, refs or null) for the chunks [first, end) of a region.
  template <typename Visit>
  void visitExtents(size_t region, uint64_t first, uint64_t end, const Visit& visit) const {
    for (size_t at = extentAt(region, first); first < end; ++at) {
      const Extent& extent = extents[region][at];
      const uint64_t count = std::min(end, extent.first + extent.count) - first;
      visit(first, count, extent.refs ? extent.refs + (first - extent.first) : nullptr);
      first += count;
    }
  }
};

Snapshot::Snapshot(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Snapshot::Snapshot(Snapshot&&) noexcept = default;
Snapshot& Snapshot::operator=(Snapshot&&) noexcept = default;
Snapshot::~Snapshot() = default;

Snapshot Snapshot::open(const std::filesystem::path& path) {
  LayerLoader loader(path.parent_path());
  auto impl = Impl::alone(path, loader);
  impl->chains = loader.chains(impl->layer);
  for (const RegionChain& chain : impl->chains)
    impl->extents.push_back(resolve(*chain));
  impl->tables = loader.tables();
  impl->tableBytes = loader.tableBytes();
  return Snapshot(std::move(impl));
}

const std::vector<Region>& Snapshot::regions() const noexcept { return impl_->regions; }

const std::vector<std::vector<std::byte>>& Snapshot::args() const noexcept {
  return impl_->layer->table.args;
}

const std::vector<std::string>& Snapshot::references() const noexcept {
  return impl_->layer->table.references;
}

std::set<std::string> Snapshot::neededFiles() const {
  std::set<std::string> names{impl_->layer->name};
  for (size_t region = 0; region < impl_->chains.size(); ++region) {
    addTables(names, *impl_->chains[region]);
    addContent(names, impl_->extents[region]);
  }
  return names;
}

std::map<std::string, std::vector<ByteRange>> Snapshot::neededRanges() const {
  std::map<std::string, std::vector<ByteRange>> ranges;
  std::set<std::string> tables{impl_->layer->name};
  for (size_t region = 0; region < impl_->chains.size(); ++region) {
    addTables(tables, *impl_->chains[region]);
    for (const Extent& extent : impl_->extents[region])
      for (uint64_t index = 0; extent.refs && index < extent.count; ++index)
        ranges[*extent.file].push_back({extent.refs[index].offset, extent.refs[index].storedBytes});
  }
  for (const std::string& name : neededFiles()) {
    const SnapshotHeader& header = impl_->fileOf(name)->header;
    ranges[name].push_back({0, sizeof header});
    if (tables.contains(name))
      ranges[name].push_back({header.tableOffset, header.tableBytes});
  }
  for (auto& [name, all] : ranges)
    all = joined(std::move(all));
  return ranges;
}

SnapshotSizes Snapshot::sizes() const noexcept {
  SnapshotSizes sizes;
  sizes.storedBytes = impl_->own->header.fileBytes;
  sizes.tables = impl_->tables;
  sizes.tableBytes = impl_->tableBytes;
  std::vector<std::pair<uint64_t, uint32_t>> stored;
  for (const TableRegion& region : impl_->layer->table.regions) {
    sizes.rawBytes += region.region.sizeBytes;
    uint64_t chunk = 0;
    for (const ChunkRun& run : region.runs) {
      for (uint64_t index = 0; run.kind == RunKind::Stored && run.file == 0 && index < run.count;
           ++index)
        stored.emplace_back(impl_->layer->table.refs[run.firstRef + index].offset,
                            chunkSize(region.region.sizeBytes, chunk + index));
      chunk += run.count;
    }
  }
  std::sort(stored.begin(), stored.end());
  stored.erase(std::unique(stored.begin(), stored.end()), stored.end());
  for (const auto& [offset, rawBytes] : stored)
    sizes.uniqueBytes += rawBytes;
  return sizes;
}

void Snapshot::read(size_t index, uint64_t offset, std::span<std::byte> out) const {
  const auto& regions = impl_->regions;
  if (index >= regions.size() || offset > regions[index].sizeBytes ||
      out.size() > regions[index].sizeBytes - offset)
    throw Error(ErrorCode::OutOfRange, "a read of " + std::to_string(out.size()) +
                                           " bytes at offset " + std::to_string(offset) +
                                           " leaves region " + std::to_string(index) + " of '" +
                                           impl_->path.string() + "'");
  if (out.empty())
    return;
  std::vector<Piece> pieces;
  impl_->addPieces(pieces, index, offset / kChunkBytes,
                   (offset + out.size() - 1) / kChunkBytes + 1);
  parallelFor(pieces.size(), out.size() >= kParallelReadBytes ? readerThreads() : 1,
              [&](uint64_t at) { impl_->read(pieces[at], offset, out); });
}

std::vector<Hash128> Snapshot::chunkHashes(size_t index) const {
  impl_->checkRegion(index);
  const uint64_t sizeBytes = impl_->regions[index].sizeBytes;
  const uint64_t count = chunkCount(sizeBytes);
  if (count > kMaxHashes)
    throw Error(ErrorCode::OutOfMemory,
                "region " + std::to_string(index) + " of '" + impl_->path.string() + "' has " +
                    std::to_string(sizeBytes) + " bytes, more than can be listed");
  std::vector<Hash128> hashes;
  hashes.reserve(count);
  impl_->visitExtents(index, 0, count, [&](uint64_t first, uint64_t run, const ChunkRef* refs) {
    for (uint64_t chunk = 0; chunk < run; ++chunk)
      hashes.push_back(refs ? refs[chunk].hash : zeroHash(chunkSize(sizeBytes, first + chunk)));
  });
  return hashes;
}

void Snapshot::verifyAll() const {
  std::vector<Piece> pieces;
  for (size_t region = 0; region < impl_->regions.size(); ++region)
    for (const Extent& extent : impl_->extents[region])
      if (extent.refs)
        impl_->addPieces(pieces, region, extent.first, extent.first + extent.count);
  impl_->verify(pieces);
}

void Snapshot::verifyPlaces() const {
  std::map<std::string, StoredContent> others;
  for (size_t region = 0; region < impl_->regions.size(); ++region)
    for (const Extent& extent : impl_->extents[region])
      if (extent.refs)
        impl_->checkPlaces(others, region, extent);
}

void Snapshot::verifyStored(const std::filesystem::path& path) {
  LayerLoader loader(path.parent_path());
  const auto impl = Impl::alone(path, loader);
  std::vector<Piece> pieces;
  const SnapshotTable& table = impl->layer->table;
  for (size_t region = 0; region < table.regions.size(); ++region) {
    uint64_t chunk = 0;
    for (const ChunkRun& run : table.regions[region].runs) {
      const uint64_t end = chunk + run.count;
      if (run.kind == RunKind::Stored && run.file == 0)
        Impl::cut(pieces, region, {chunk, run.count, &table.refs[run.firstRef], &impl->layer->name},
                  chunk, end);
      chunk = end;
    }
  }
  impl->verify(pieces);
}

std::vector<ChangedRange> changedRanges(const Snapshot& prologue, const Snapshot& epilogue,
                                        size_t index) {
  const Snapshot::Impl& now = *epilogue.impl_;
  const Snapshot::Impl& before = *prologue.impl_;
  const Region& region = epilogue.regions().at(index);
  const auto twin =
      std::find_if(before.regions.begin(), before.regions.end(), [&](const Region& candidate) {
        return candidate.address == region.address && candidate.sizeBytes == region.sizeBytes;
      });
  if (twin == before.regions.end())
    return {{0, region.sizeBytes}};
  const auto old = static_cast<size_t>(twin - before.regions.begin());
  std::vector<ChangedRange> ranges;
  const auto add = [&](uint64_t chunk) {
    const uint64_t offset = chunk * kChunkBytes;
    const uint64_t size = chunkSize(region.sizeBytes, chunk);
    if (!ranges.empty() && ranges.back().offset + ranges.back().sizeBytes == offset)
      ranges.back().sizeBytes += size;
    else
      ranges.push_back({offset, size});
  };
  const auto hashOf = [&](const ChunkRef* refs, uint64_t first, uint64_t chunk) {
    return refs ? refs[chunk - first].hash : zeroHash(chunkSize(region.sizeBytes, chunk));
  };
  const auto compare = [&](uint64_t first, uint64_t count, const ChunkRef* refs) {
    before.visitExtents(
        old, first, first + count, [&](uint64_t start, uint64_t run, const ChunkRef* others) {
          for (uint64_t chunk = start; (refs || others) && chunk < start + run; ++chunk)
            if (hashOf(refs, first, chunk) != hashOf(others, start, chunk))
              add(chunk);
        });
  };
  const TableRegion& own = now.layer->table.regions[index];
  const bool isBasedOnIt = own.baseFile != 0 && own.baseRegion == old &&
                           now.layer->table.references[own.baseFile - 1] == before.layer->name;
  uint64_t chunk = 0;
  for (const ChunkRun& run : own.runs) {
    if (!isBasedOnIt || run.kind != RunKind::Base)
      now.visitExtents(index, chunk, chunk + run.count, compare);
    chunk += run.count;
  }
  return ranges;
}

} // namespace mneme::artifact
