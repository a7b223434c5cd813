// Room devices: kernels of the fused verification. A scan at memory bandwidth finds the tiles that
// differ at all; only those are looked at element by element; groups of tiles are added up in a
// fixed order, so that sums are the same in every run.
#include "compare_tile.h"

using mneme::device::bulk::CompareEntry;
using mneme::device::bulk::groupTiles;
using mneme::device::bulk::TileCounts;
using mneme::device::bulk::TileNorms;

namespace {

using namespace mneme::device;

/// Bytes of the request before the tile.
uint64_t offsetOf(const CompareEntry& entry, uint64_t tile, uint64_t tileBytes) {
  return (tile - entry.firstUnit) * tileBytes;
}

template <bulk::Share share>
void compareTiles(uint64_t table, uint64_t count, uint64_t tiles, uint64_t tileBytes,
                  uint64_t flags, uint64_t counts, uint64_t norms) {
  gpu::Cursor<CompareEntry> cursor(table, count, tiles);
  for (uint64_t tile = gpu::warp(); tile < tiles; tile += gpu::warps()) {
    if (gpu::load<uint8_t>(flags + tile) == 0)
      continue;
    const CompareEntry entry = cursor.entryOf(tile);
    if (bulk::shareOf(entry.request) != share)
      continue;
    const uint64_t offset = offsetOf(entry, tile, tileBytes);
    bulk::compareTile<share>(entry.request, offset,
                             gpu::smaller(tileBytes, entry.request.sizeBytes - offset),
                             counts + tile * sizeof(TileCounts), norms + tile * sizeof(TileNorms));
  }
}

uint64_t bitsAt(const CompareRequest& request, uint64_t base, uint64_t index,
                uint64_t elementBytes) {
  const uint64_t offset = index * elementBytes;
  return gpu::loadBytes(
      base + offset, static_cast<uint32_t>(gpu::smaller(elementBytes, request.sizeBytes - offset)));
}

} // namespace

/// Units are tiles. Sets or clears the byte of each tile: whether its elements have to be compared.
GPU_KERNEL mnemeCompareScan(uint64_t table, uint64_t count, uint64_t tiles, uint64_t tileBytes,
                            uint64_t flags) {
  gpu::Cursor<CompareEntry> cursor(table, count, tiles);
  for (uint64_t tile = gpu::warp(); tile < tiles; tile += gpu::warps()) {
    const CompareEntry entry = cursor.entryOf(tile);
    const CompareRequest& request = entry.request;
    const uint64_t offset = offsetOf(entry, tile, tileBytes);
    const bool isWanted = bulk::needsEveryElement(request) ||
                          gpu::warpDiffers(request.actual + offset, request.expected + offset,
                                           gpu::smaller(tileBytes, request.sizeBytes - offset));
    if (gpu::lane() == 0)
      gpu::store<uint8_t>(flags + tile, isWanted);
  }
}

/// Compares the elements of the marked tiles of requests without norm: f32 and f64.
GPU_KERNEL mnemeCompareFloats(uint64_t table, uint64_t count, uint64_t tiles, uint64_t tileBytes,
                              uint64_t flags, uint64_t counts) {
  compareTiles<bulk::Share::CommonFloats>(table, count, tiles, tileBytes, flags, counts, 0);
}

/// The same for the other types.
GPU_KERNEL mnemeCompareElements(uint64_t table, uint64_t count, uint64_t tiles, uint64_t tileBytes,
                                uint64_t flags, uint64_t counts) {
  compareTiles<bulk::Share::OtherTypes>(table, count, tiles, tileBytes, flags, counts, 0);
}

/// The same for requests with a norm: f32.
GPU_KERNEL mnemeCompareFloatNorms(uint64_t table, uint64_t count, uint64_t tiles,
                                  uint64_t tileBytes, uint64_t flags, uint64_t counts,
                                  uint64_t norms) {
  compareTiles<bulk::Share::FloatNorms>(table, count, tiles, tileBytes, flags, counts, norms);
}

/// The same for the other types.
GPU_KERNEL mnemeCompareNorms(uint64_t table, uint64_t count, uint64_t tiles, uint64_t tileBytes,
                             uint64_t flags, uint64_t counts, uint64_t norms) {
  compareTiles<bulk::Share::OtherNorms>(table, count, tiles, tileBytes, flags, counts, norms);
}

/// Adds up the marked tiles of each group. `norms` and `groupNorms` are used for requests with a
/// norm only.
GPU_KERNEL mnemeCompareGroups(uint64_t table, uint64_t count, uint64_t groups, uint64_t flags,
                              uint64_t counts, uint64_t norms, uint64_t groupCounts,
                              uint64_t groupNorms) {
  gpu::Cursor<CompareEntry, &CompareEntry::firstGroup> cursor(table, count, groups);
  for (uint64_t group = gpu::warp(); group < groups; group += gpu::warps()) {
    const CompareEntry entry = cursor.entryOf(group);
    const CompareRequest& request = entry.request;
    const uint64_t first = entry.firstUnit + (group - entry.firstGroup) * groupTiles;
    const uint64_t end = gpu::smaller(first + groupTiles, entry.endUnit);
    const bool hasNorm = request.norm != Norm::None;
    bulk::LaneCounts sum;
    bulk::LaneNorms norm;
    for (uint64_t tile = first + gpu::lane(); tile < end; tile += gpu::lanes) {
      if (gpu::load<uint8_t>(flags + tile) == 0)
        continue;
      sum.merge(gpu::at<TileCounts>(counts + tile * sizeof(TileCounts)));
      if (hasNorm)
        norm.merge(gpu::at<TileNorms>(norms + tile * sizeof(TileNorms)));
    }
    sum.reduce();
    if (hasNorm)
      norm.reduce();
    if (gpu::lane() != 0)
      continue;
    if (sum.counts.mismatchCount > 0) {
      const uint64_t elementBytes = bulk::Element::bytesOf(request.type);
      const uint64_t index = sum.counts.firstMismatch;
      sum.counts.firstActualBits = bitsAt(request, request.actual, index, elementBytes);
      sum.counts.firstExpectedBits = bitsAt(request, request.expected, index, elementBytes);
    }
    gpu::at<TileCounts>(groupCounts + group * sizeof(TileCounts)) = sum.counts;
    if (hasNorm)
      gpu::at<TileNorms>(groupNorms + group * sizeof(TileNorms)) = norm.norms;
  }
}
