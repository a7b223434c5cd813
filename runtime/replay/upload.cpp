#include "runtime/replay/upload.h"

#include <algorithm>
#include <deque>

#include "runtime/core/base/error.h"
#include "runtime/core/base/hash.h"
#include "runtime/replay/reader_pool.h"

namespace mneme::replay {

namespace {

constexpr uint64_t kPieceBytes = 32 * artifact::kChunkBytes;
/// Below this, threads and pinned memory cost more than they save.
constexpr uint64_t kInlineBytes = 1 << 20;
/// Pinning a buffer takes about as long as copying a few times its size: small uploads get few.
constexpr uint64_t kPiecesPerBuffer = 4;

uint64_t totalBytes(const std::vector<UploadPiece>& pieces) {
  uint64_t total = 0;
  for (const UploadPiece& piece : pieces)
    total += piece.sizeBytes;
  return total;
}

/// Copies under way, oldest first.
class CopyQueue {
public:
  explicit CopyQueue(device::Device& device) : device_(device) {}
  ~CopyQueue() {
    try { // only left when something failed: the buffers must be quiet before they are used again
      while (!copies_.empty())
        finishOldest();
    } catch (const std::exception&) {
    }
  }

  void start(uint64_t destination, device::StagingBuffer& source, size_t sizeBytes, size_t buffer) {
    copies_.push_back({device_.startCopyToDevice(destination, source, sizeBytes), buffer});
  }
  bool isEmpty() const { return copies_.empty(); }
  /// Waits; returns the buffer that is free now.
  size_t finishOldest() {
    const Copy copy = copies_.front();
    copies_.pop_front();
    device_.waitForCopy(copy.ticket);
    return copy.buffer;
  }

private:
  struct Copy {
    uint64_t ticket;
    size_t buffer;
  };
  device::Device& device_;
  std::deque<Copy> copies_;
};

} // namespace

bool isZeroChunk(const Hash128& hash, uint64_t sizeBytes) {
  static const std::vector<std::byte> zeros(artifact::kChunkBytes);
  static const Hash128 whole = hash128(zeros);
  return hash == (sizeBytes == zeros.size() ? whole : hash128(std::span(zeros).first(sizeBytes)));
}

void appendPieces(std::vector<UploadPiece>& pieces, const artifact::Snapshot& snapshot,
                  size_t region, uint64_t offset, uint64_t sizeBytes, uint64_t base,
                  bool skipZero) {
  const artifact::ByteRange range{offset, sizeBytes};
  appendPieces(pieces, snapshot, region, {&range, 1}, base, skipZero);
}

void appendPieces(std::vector<UploadPiece>& pieces, const artifact::Snapshot& snapshot,
                  size_t region, std::span<const artifact::ByteRange> ranges, uint64_t base,
                  bool skipZero) {
  const std::vector<Hash128> hashes =
      skipZero && !ranges.empty() ? snapshot.chunkHashes(region) : std::vector<Hash128>();
  UploadPiece open;
  const auto flush = [&] {
    if (open.sizeBytes > 0)
      pieces.push_back(open);
    open = UploadPiece();
  };
  for (const auto& [begin, sizeBytes] : ranges) {
    const uint64_t end = begin + sizeBytes;
    for (uint64_t offset = begin, take = 0; offset < end; offset += take) {
      const uint64_t chunk = offset / artifact::kChunkBytes;
      take = std::min((chunk + 1) * artifact::kChunkBytes, end) - offset;
      if (chunk < hashes.size() && isZeroChunk(hashes[chunk], artifact::kChunkBytes)) {
        flush();
        continue;
      }
      if (open.sizeBytes + take > kPieceBytes)
        flush();
      if (open.sizeBytes == 0)
        open = {&snapshot, region, offset, 0, base + offset};
      open.sizeBytes += take;
    }
    flush();
  }
}

void readPieces(const std::vector<UploadPiece>& pieces, const PieceInspector& inspect) {
  if (totalBytes(pieces) > kInlineBytes)
    if (ReaderPool pool(pieces, inspect, readerCount()); pool.hasReaders()) {
      std::vector<std::vector<std::byte>> buffers(readerCount(),
                                                  std::vector<std::byte>(kPieceBytes));
      for (std::vector<std::byte>& buffer : buffers)
        pool.addBuffer(buffer);
      for (size_t i = 0; i < pieces.size(); ++i)
        pool.giveBack(pool.take(/*isWaiting=*/true)->buffer);
      return;
    }
  std::vector<std::byte> buffer;
  for (const UploadPiece& piece : pieces) {
    buffer.resize(piece.sizeBytes);
    piece.snapshot->read(piece.region, piece.offset, buffer);
    inspect(piece, buffer);
  }
}

void Uploader::uploadInline(const std::vector<UploadPiece>& pieces, const PieceInspector& inspect) {
  std::vector<std::byte> buffer;
  for (const UploadPiece& piece : pieces) {
    buffer.resize(piece.sizeBytes);
    piece.snapshot->read(piece.region, piece.offset, buffer);
    if (inspect)
      inspect(piece, buffer);
    device_.copyToDevice(piece.destination, buffer.data(), buffer.size());
  }
}

/// One more buffer, unless there are `limit` or there is no memory for it.
bool Uploader::addStaging(size_t limit) {
  if (staging_.size() >= limit)
    return false;
  try {
    staging_.push_back(device_.makeStaging(kPieceBytes));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::OutOfMemory)
      throw;
    return false;
  }
  return true;
}

void Uploader::upload(const std::vector<UploadPiece>& pieces, const PieceInspector& inspect) {
  const uint64_t wanted = totalBytes(pieces) / kPieceBytes / kPiecesPerBuffer;
  const unsigned readers = readerCount();
  size_t limit = std::clamp<uint64_t>(wanted, 2, 2 * readers + 2);
  if (totalBytes(pieces) <= kInlineBytes || (staging_.empty() && !addStaging(limit)))
    return uploadInline(pieces, inspect);
  CopyQueue copies(device_);
  ReaderPool pool(pieces, inspect, std::min<size_t>(readers, limit));
  if (!pool.hasReaders())
    return uploadInline(pieces, inspect);
  for (const auto& buffer : staging_)
    pool.addBuffer(buffer->bytes());
  for (size_t started = 0; started < pieces.size();) {
    if (const auto filled = pool.take(/*isWaiting=*/false)) {
      copies.start(filled->piece->destination, *staging_[filled->buffer], filled->piece->sizeBytes,
                   filled->buffer);
      ++started;
    } else if (staging_.size() < pieces.size() && addStaging(limit)) {
      pool.addBuffer(staging_.back()->bytes());
    } else if (!copies.isEmpty()) {
      limit = staging_.size(); // enough, or all there are
      pool.giveBack(copies.finishOldest());
    } else if (const auto next = pool.take(/*isWaiting=*/true)) {
      copies.start(next->piece->destination, *staging_[next->buffer], next->piece->sizeBytes,
                   next->buffer);
      ++started;
    }
  }
  while (!copies.isEmpty())
    copies.finishOldest();
}

} // namespace mneme::replay
