#include "runtime/device/cpu/bulk.h"

#include <algorithm>
#include <cstring>

#include "runtime/device/compare_chunk.h"
#include "runtime/device/cpu/pool.h"

namespace mneme::device::cpu {

namespace {

// Large enough to hide the cost of taking a task, small enough to share a few megabytes evenly.
constexpr uint64_t taskBytes = 1 << 20;

void* pointerAt(uint64_t address) noexcept { return reinterpret_cast<void*>(address); }

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
    memcpy(pointerAt(range.destination + piece.begin), pointerAt(range.source + piece.begin),
           piece.end - piece.begin);
  });
}

void bulkHash(uint64_t address, uint64_t sizeBytes, uint64_t pageBytes,
              std::span<Hash128> hashes) {
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
