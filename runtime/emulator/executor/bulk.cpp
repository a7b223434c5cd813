#include "runtime/emulator/executor/bulk.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "runtime/devices/compare_chunk.h"
#include "runtime/emulator/executor/pool.h"

namespace mneme::device::cpu {

namespace {

// Large enough to hide the cost of taking a task, small enough to share a few megabytes evenly.
constexpr uint64_t taskBytes = 1 << 20;

void* pointerAt(uint64_t address) noexcept { return reinterpret_cast<void*>(address); }

// Ranges of this size are larger than any cache. Their destination is written past the caches
// instead of being read into them first, which is a third of the traffic.
constexpr uint64_t streamingBytes = 64 << 20;

void copyStreaming(char* destination, const char* source, uint64_t sizeBytes) noexcept {
#if defined(__x86_64__)
  const uint64_t head =
      std::min<uint64_t>(-reinterpret_cast<uint64_t>(destination) & 63, sizeBytes);
  memcpy(destination, source, head);
  uint64_t at = head;
  for (; at + 64 <= sizeBytes; at += 64) {
    const auto* from = reinterpret_cast<const __m128i*>(source + at);
    auto* to = reinterpret_cast<__m128i*>(destination + at);
    const __m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1);
    const __m128i c = _mm_loadu_si128(from + 2), d = _mm_loadu_si128(from + 3);
    _mm_stream_si128(to, a);
    _mm_stream_si128(to + 1, b);
    _mm_stream_si128(to + 2, c);
    _mm_stream_si128(to + 3, d);
  }
  _mm_sfence();
  memcpy(destination + at, source + at, sizeBytes - at);
#else
  memcpy(destination, source, sizeBytes);
#endif
}

/// A part of range (or request) number `owner`.
struct Piece {
  size_t owner;
  uint64_t begin;
  uint64_t end;
};

void addPieces(std::vector<Piece>& pieces, size_t owner, uint64_t count, uint64_t perPiece) {
  for (uint64_t at = 0; at < count; at += perPiece)
    pieces.push_back({owner, at, std::min(count, at + perPiece)});
}

/// Small work stays on the calling thread: waking workers costs more than it saves.
template <typename Task>
void forPieces(const std::vector<Piece>& pieces, uint64_t totalBytes, const Task& task) {
  if (totalBytes <= taskBytes / 4) {
    for (size_t i = 0; i < pieces.size(); ++i)
      task(i);
    return;
  }
  parallelFor(pieces.size(), [&](uint64_t i) { task(static_cast<size_t>(i)); });
}

} // namespace

void bulkCopy(std::span<const CopyRange> ranges) {
  std::vector<Piece> pieces;
  uint64_t total = 0;
  for (size_t i = 0; i < ranges.size(); ++i) {
    addPieces(pieces, i, ranges[i].sizeBytes, taskBytes);
    total += ranges[i].sizeBytes;
  }
  forPieces(pieces, total, [&](size_t i) {
    const Piece& piece = pieces[i];
    const CopyRange& range = ranges[piece.owner];
    auto* destination = static_cast<char*>(pointerAt(range.destination + piece.begin));
    const auto* source = static_cast<const char*>(pointerAt(range.source + piece.begin));
    const uint64_t size = piece.end - piece.begin;
    if (total >= streamingBytes)
      copyStreaming(destination, source, size);
    else
      memcpy(destination, source, size);
  });
}

void bulkHash(uint64_t address, uint64_t sizeBytes, uint64_t pageBytes, std::span<Hash128> hashes) {
  const uint64_t pageCount = (sizeBytes + pageBytes - 1) / pageBytes;
  std::vector<Piece> pieces;
  addPieces(pieces, 0, pageCount, std::max<uint64_t>(1, taskBytes / pageBytes));
  forPieces(pieces, sizeBytes, [&](size_t i) {
    for (uint64_t page = pieces[i].begin; page < pieces[i].end; ++page) {
      const uint64_t offset = page * pageBytes;
      const auto* bytes = static_cast<const std::byte*>(pointerAt(address + offset));
      hashes[page] = hash128({bytes, std::min(pageBytes, sizeBytes - offset)});
    }
  });
}

std::vector<uint64_t> bulkDiff(uint64_t first, uint64_t second, uint64_t sizeBytes,
                               uint64_t pageBytes) {
  const uint64_t pageCount = (sizeBytes + pageBytes - 1) / pageBytes;
  std::vector<Piece> pieces;
  addPieces(pieces, 0, pageCount, std::max<uint64_t>(1, taskBytes / pageBytes));
  std::vector<std::vector<uint64_t>> found(pieces.size());
  forPieces(pieces, sizeBytes, [&](size_t i) {
    for (uint64_t page = pieces[i].begin; page < pieces[i].end; ++page) {
      const uint64_t offset = page * pageBytes;
      if (memcmp(pointerAt(first + offset), pointerAt(second + offset),
                 std::min(pageBytes, sizeBytes - offset)) != 0)
        found[i].push_back(page);
    }
  });
  std::vector<uint64_t> result;
  for (const auto& pages : found)
    result.insert(result.end(), pages.begin(), pages.end());
  return result;
}

std::vector<CompareReport> bulkCompare(std::span<const CompareRequest> requests) {
  std::vector<Piece> pieces;
  uint64_t total = 0;
  for (size_t i = 0; i < requests.size(); ++i) {
    checkRequest(requests[i]);
    const uint64_t elementBytes = sizeOf(requests[i].type);
    addPieces(pieces, i, requests[i].sizeBytes / elementBytes, taskBytes / elementBytes);
    total += requests[i].sizeBytes;
  }
  std::vector<ComparePart> parts(pieces.size());
  forPieces(pieces, total, [&](size_t i) {
    parts[i] = compareElements(requests[pieces[i].owner], pieces[i].begin, pieces[i].end);
  });
  std::vector<ComparePart> merged(requests.size());
  for (size_t i = 0; i < pieces.size(); ++i)
    mergeParts(merged[pieces[i].owner], parts[i]);
  std::vector<CompareReport> reports;
  for (size_t i = 0; i < requests.size(); ++i)
    reports.push_back(finishComparison(requests[i], merged[i]));
  return reports;
}

} // namespace mneme::device::cpu
