#include "runtime/replay/trimmed_instance.h"

#include <algorithm>
#include <map>
#include <memory>
#include <new>
#include <unordered_set>

#include "runtime/core/artifact/launch_identity.h"
#include "runtime/core/artifact/writer.h"
#include "runtime/core/base/error.h"

namespace mneme::replay {

namespace {

constexpr uint64_t kChunk = artifact::kChunkBytes;
constexpr size_t kSlabBytes = 16 << 20;
constexpr uint64_t kPrologueId = 1, kEpilogueId = 2;
/// Few bytes are compressed well, which takes seconds for so much; more as recorders do.
constexpr uint64_t kFewBytes = 64 << 20;
constexpr int kStrongCompression = 19, kFastCompression = 1;

/// Bytes of a region that are kept together.
struct Piece {
  uint64_t begin = 0, end = 0;
};

/// Adds content to a draft, each only once.
class Content {
public:
  explicit Content(artifact::SnapshotDraft& draft, std::unordered_set<Hash128>& known)
      : draft_(draft), known_(known) {}
  ~Content() { close(); }
  Content(const Content&) = delete;

  artifact::ChunkDraft add(uint64_t index, const std::vector<std::byte>& bytes) {
    artifact::ChunkDraft chunk{.index = index,
                               .hash = hash128(bytes),
                               .rawBytes = static_cast<uint32_t>(bytes.size()),
                               .bytes = {}};
    chunk.isZero =
        std::all_of(bytes.begin(), bytes.end(), [](std::byte one) { return one == std::byte{}; });
    if (!chunk.isZero && known_.insert(chunk.hash).second)
      chunk.bytes = keep(bytes);
    return chunk;
  }

  void close() {
    if (slab_ && !slab_->empty())
      draft_.storage.push_back({slab_, *slab_});
    slab_.reset();
  }

private:
  std::span<const std::byte> keep(const std::vector<std::byte>& bytes) {
    if (!slab_ || slab_->size() + bytes.size() > kSlabBytes) {
      close();
      slab_ = std::make_shared<std::vector<std::byte>>();
      slab_->reserve(kSlabBytes);
    }
    const size_t at = slab_->size();
    slab_->insert(slab_->end(), bytes.begin(), bytes.end());
    return std::span(*slab_).subspan(at);
  }

  artifact::SnapshotDraft& draft_;
  std::unordered_set<Hash128>& known_;
  std::shared_ptr<std::vector<std::byte>> slab_;
};

class DraftMaker {
public:
  DraftMaker(const TrimSource& source, const TrimOrder& order);
  artifact::InstanceDraft make();

private:
  std::vector<Piece> piecesOf(const artifact::Region& region) const;
  std::vector<Piece> unreadIn(const artifact::Region& region, uint64_t chunk) const;
  static artifact::Region cut(const artifact::Region& region, const Piece& piece);
  void addBefore(size_t index, Content& content);
  void addAfter(size_t index, Content& content);
  std::optional<std::vector<std::byte>> bytesAfter(size_t site, uint64_t chunk) const;
  void readReference(size_t site, uint64_t chunk, std::vector<std::byte>& bytes) const;
  void checkPart(const Site& site, uint64_t chunk, const std::vector<Piece>& unread,
                 const std::vector<uint8_t>& written, const std::vector<std::byte>& bytes) const;
  uint64_t identity() const;
  artifact::Trimming trimming() const;

  const TrimSource& source_;
  const TrimOrder& order_;
  artifact::InstanceDraft draft_;
  std::unordered_set<Hash128> known_;
  std::map<size_t, size_t> siteOfPrologue_, siteOfEpilogue_;     ///< by number of region
  std::map<std::pair<uint64_t, uint64_t>, size_t> draftOfPiece_; ///< by address and size
  std::vector<std::map<uint64_t, Hash128>> hashesBefore_; ///< of draft regions, without zeros
};

DraftMaker::DraftMaker(const TrimSource& source, const TrimOrder& order)
    : source_(source), order_(order) {
  for (size_t site = 0; site < source.image.sites().size(); ++site) {
    siteOfPrologue_[source.image.sites()[site].prologueIndex] = site;
    siteOfEpilogue_[source.image.sites()[site].epilogueIndex] = site;
  }
}

std::vector<Piece> DraftMaker::piecesOf(const artifact::Region& region) const {
  std::vector<Piece> pieces;
  uint64_t cursor = 0;
  for (const artifact::ByteRange& hole : order_.unallocated) {
    const uint64_t begin = std::max(hole.offset, region.address) - region.address;
    const uint64_t end = std::min(
        std::max(hole.offset + hole.sizeBytes, region.address) - region.address, region.sizeBytes);
    if (begin >= end)
      continue;
    if (begin % kChunk != 0 || (end % kChunk != 0 && end != region.sizeBytes))
      throw Error(ErrorCode::InvalidArgument, "only whole chunks of a region can be left out");
    if (begin > cursor)
      pieces.push_back({cursor, begin});
    cursor = end;
  }
  if (cursor < region.sizeBytes || region.sizeBytes == 0)
    pieces.push_back({cursor, region.sizeBytes});
  return pieces;
}

/// The bytes of a chunk that are not read.
std::vector<Piece> DraftMaker::unreadIn(const artifact::Region& region, uint64_t chunk) const {
  const uint64_t first = region.address + chunk * kChunk;
  const uint64_t last = std::min(first + kChunk, region.address + region.sizeBytes);
  auto fill = std::upper_bound(
      order_.unread.begin(), order_.unread.end(), first,
      [](uint64_t address, const Fill& one) { return address < one.address + one.sizeBytes; });
  std::vector<Piece> pieces;
  for (; fill != order_.unread.end() && fill->address < last; ++fill)
    pieces.push_back({std::max(fill->address, first) - first,
                      std::min(fill->address + fill->sizeBytes, last) - first});
  return pieces;
}

artifact::Region DraftMaker::cut(const artifact::Region& region, const Piece& piece) {
  artifact::Region part = region;
  part.address += piece.begin;
  part.sizeBytes = piece.end - piece.begin;
  part.parts.clear();
  for (artifact::AnnotatedPart one : region.parts) {
    const uint64_t begin = std::max(one.offset, piece.begin);
    const uint64_t end = std::min(one.offset + one.sizeBytes, piece.end);
    if (begin >= end)
      continue;
    one.offset = begin - piece.begin;
    one.sizeBytes = end - begin;
    part.parts.push_back(std::move(one));
  }
  return part;
}

void fillWithZeros(std::vector<std::byte>& bytes, const std::vector<Piece>& pieces) {
  for (const Piece& piece : pieces)
    std::fill(bytes.begin() + static_cast<ptrdiff_t>(piece.begin),
              bytes.begin() + static_cast<ptrdiff_t>(piece.end), std::byte{});
}

void DraftMaker::addBefore(size_t index, Content& content) {
  const artifact::Region& region = source_.prologue.regions()[index];
  for (const Piece& piece : piecesOf(region)) {
    artifact::RegionDraft draft{.region = cut(region, piece), .base = {}, .chunks = {}};
    std::map<uint64_t, Hash128>& hashes = hashesBefore_.emplace_back();
    for (uint64_t offset = piece.begin; offset < piece.end; offset += kChunk) {
      const std::vector<Piece> unread = unreadIn(region, offset / kChunk);
      std::vector<std::byte> bytes(std::min(kChunk, piece.end - offset));
      if (unread.empty() || unread.front().end - unread.front().begin < bytes.size())
        source_.prologue.read(index, offset, bytes);
      fillWithZeros(bytes, unread);
      draft.chunks.push_back(content.add((offset - piece.begin) / kChunk, bytes));
      if (!draft.chunks.back().isZero)
        hashes[offset] = draft.chunks.back().hash;
    }
    draftOfPiece_[{draft.region.address, draft.region.sizeBytes}] = draft_.prologue.regions.size();
    draft_.prologue.regions.push_back(std::move(draft));
  }
}

/// As a recording has it: with the addresses of the recorded process.
void DraftMaker::readReference(size_t index, uint64_t chunk, std::vector<std::byte>& bytes) const {
  const Site& site = source_.image.sites()[index];
  if (const std::vector<std::byte>* kept = source_.memory.keptBytes(index, chunk))
    bytes = *kept;
  else if (source_.memory.isChanged(index, chunk) && site.epilogueIndex != kNone)
    source_.epilogue.read(site.epilogueIndex, chunk * kChunk, bytes);
  else if (site.prologueIndex != kNone)
    source_.prologue.read(site.prologueIndex, chunk * kChunk, bytes);
}

/// What the launch leaves in a chunk; nothing if that is what it found.
std::optional<std::vector<std::byte>> DraftMaker::bytesAfter(size_t index, uint64_t chunk) const {
  const Site& site = source_.image.sites()[index];
  const std::vector<Piece> unread = unreadIn(site.region, chunk);
  if (unread.empty() && !source_.memory.isChanged(index, chunk) && site.prologueIndex != kNone)
    return std::nullopt;
  std::vector<uint8_t> written;
  if (!unread.empty() && (written = source_.memory.writtenBytes(index, chunk)).empty())
    return std::nullopt;
  std::vector<std::byte> bytes(std::min(kChunk, site.region.sizeBytes - chunk * kChunk));
  readReference(index, chunk, bytes);
  checkPart(site, chunk, unread, written, bytes);
  for (const Piece& piece : unread)
    for (uint64_t i = piece.begin; i < piece.end; ++i)
      if (written[i] == 0)
        bytes[i] = std::byte{};
  return bytes;
}

/// What a smaller grid writes to bytes that it does not read must be what the whole one left there,
/// even if that is what a byte contained before.
void DraftMaker::checkPart(const Site& site, uint64_t chunk, const std::vector<Piece>& unread,
                           const std::vector<uint8_t>& written,
                           const std::vector<std::byte>& bytes) const {
  const auto isSame = [](const artifact::Dim3& a, const artifact::Dim3& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
  };
  const artifact::Instance& whole = source_.record.instances.at(source_.instance.dynamicHash);
  if (isSame(whole.grid, source_.instance.grid) || site.epilogueIndex == kNone)
    return;
  std::vector<std::byte> expected(bytes.size());
  source_.epilogue.read(site.epilogueIndex, chunk * kChunk, expected);
  for (const Piece& piece : unread)
    for (uint64_t i = piece.begin; i < piece.end; ++i)
      if (written[i] != 0 && bytes[i] != expected[i])
        throw Error(ErrorCode::DeviceFailed,
                    "the smaller grid leaves something that the whole one does not");
}

void DraftMaker::addAfter(size_t index, Content& content) {
  const artifact::Region& region = source_.epilogue.regions()[index];
  const auto found = siteOfEpilogue_.find(index);
  for (const Piece& piece : piecesOf(region)) {
    artifact::RegionDraft draft{.region = cut(region, piece), .base = {}, .chunks = {}};
    const auto base = draftOfPiece_.find({draft.region.address, draft.region.sizeBytes});
    const bool hasBase = base != draftOfPiece_.end();
    if (hasBase)
      draft.base = artifact::DraftBase{kPrologueId, base->second};
    for (uint64_t offset = piece.begin; offset < piece.end && found != siteOfEpilogue_.end();
         offset += kChunk) {
      const auto bytes = bytesAfter(found->second, offset / kChunk);
      if (!bytes)
        continue;
      artifact::ChunkDraft chunk = content.add((offset - piece.begin) / kChunk, *bytes);
      if (hasBase) {
        const auto& hashes = hashesBefore_[base->second];
        const auto before = hashes.find(offset);
        if (before == hashes.end() ? chunk.isZero : before->second == chunk.hash)
          continue;
      }
      draft.chunks.push_back(std::move(chunk));
    }
    draft_.epilogue.regions.push_back(std::move(draft));
  }
}

/// Other tools have other ways to name launches; then the recorded name is kept apart from new
/// ones.
uint64_t DraftMaker::identity() const {
  const artifact::Instance& whole = source_.record.instances.at(source_.instance.dynamicHash);
  const std::vector<std::vector<std::byte>>& values = source_.prologue.args();
  // As in KernelCatalog's dynamicHash().
  const bool isMasked = !source_.record.codeForm.empty() || !source_.record.images.empty();
  const auto isAddress = [&](uint64_t word) {
    return std::ranges::any_of(source_.prologue.regions(), [&](const artifact::Region& region) {
      return region.kind != artifact::RegionKind::Global &&
             word - region.address < region.sizeBytes;
    });
  };
  std::vector<std::byte> masked;
  const auto bytesOf = [&](size_t index, uint64_t offset, uint64_t sizeBytes) {
    const std::span<const std::byte> value = index < values.size()
                                                 ? std::span<const std::byte>(values[index])
                                                 : std::span<const std::byte>();
    const uint64_t begin = std::min<uint64_t>(offset, value.size());
    const auto part = value.subspan(begin, std::min<uint64_t>(sizeBytes, value.size() - begin));
    return isMasked ? artifact::withoutAddresses(part, isAddress, masked) : part;
  };
  const auto of = [&](const artifact::Dim3& grid) {
    return artifact::launchIdentity(grid, whole.block, whole.cluster, whole.sharedBytes,
                                    whole.isCooperative, source_.record.args, bytesOf);
  };
  if (of(source_.instance.grid) == of(whole.grid))
    return whole.dynamicHash;
  if (of(whole.grid) == whole.dynamicHash)
    return of(source_.instance.grid);
  return combineHashes(whole.dynamicHash, of(source_.instance.grid));
}

/// What is left out, of a trimmed launch since it was recorded.
artifact::Trimming DraftMaker::trimming() const {
  const artifact::Instance& whole = source_.record.instances.at(source_.instance.dynamicHash);
  uint64_t described = 0, unread = 0;
  for (const artifact::Region& region : source_.prologue.regions())
    described += region.sizeBytes;
  for (const Fill& fill : order_.unread)
    unread += fill.sizeBytes;
  artifact::Trimming trimming = whole.trimming.value_or(artifact::Trimming{
      .memoryBytes = described, .grid = whole.grid, .dynamicHash = whole.dynamicHash});
  trimming.unreadBytes = trimming.memoryBytes - std::min(trimming.memoryBytes, described - unread);
  return trimming;
}

artifact::InstanceDraft DraftMaker::make() {
  draft_.instance = source_.instance;
  draft_.instance.trimming = trimming();
  draft_.instance.dynamicHash = identity();
  draft_.prologue.id = kPrologueId;
  draft_.epilogue.id = kEpilogueId;
  draft_.prologue.args = source_.prologue.args();
  {
    Content content(draft_.prologue, known_);
    for (size_t index = 0; index < source_.prologue.regions().size(); ++index)
      addBefore(index, content);
  }
  Content content(draft_.epilogue, known_);
  for (size_t index = 0; index < source_.epilogue.regions().size(); ++index)
    addAfter(index, content);
  content.close();
  return std::move(draft_);
}

} // namespace

void writeTrimmed(const std::filesystem::path& directory, const TrimSource& source,
                  const TrimOrder& order) {
  artifact::InstanceDraft draft;
  try {
    draft = DraftMaker(source, order).make();
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::OutOfMemory, "the host has not enough memory for what the launch needs");
  }
  uint64_t contentBytes = 0;
  for (const artifact::SnapshotDraft* snapshot : {&draft.prologue, &draft.epilogue})
    for (const artifact::DraftSlab& slab : snapshot->storage)
      contentBytes += slab.bytes.size();
  artifact::RecordingWriter writer(
      {.directory = directory,
       .compressionLevel = contentBytes <= kFewBytes ? kStrongCompression : kFastCompression});
  writer.addKernel(source.record, source.modules);
  writer.submit(source.record.staticHash, std::move(draft));
  writer.finish();
  const artifact::WriterStatistics statistics = writer.statistics();
  if (!statistics.losses.empty())
    throw Error(ErrorCode::IoFailed,
                "the trimmed recording could not be written: " + statistics.losses.front());
}

} // namespace mneme::replay
