#include <cmath>
#include <vector>

#include "runtime/devices/bulk/bulk.h"
#include "runtime/devices/bulk/launch_plan.h"
#include "runtime/devices/bulk/layout.h"
#include "runtime/devices/compare_chunk.h"

namespace mneme::device {

namespace {

using bulk::CompareEntry;
using bulk::NormSums;
using bulk::TileCounts;
using bulk::TileNorms;

/// The requests cut into tiles and groups of tiles, and where everything lies in device memory.
struct Plan {
  std::vector<CompareEntry> entries;
  uint64_t tileBytes = 0, tiles = 0, groups = 0;
  bool hasFloats = false, hasOthers = false, hasFloatNorms = false, hasOtherNorms = false;
  uint64_t table = 0, flags = 0, counts = 0, norms = 0, groupCounts = 0, groupNorms = 0;
  uint64_t sizeBytes = 0;

  void cut(std::span<const CompareRequest> requests, uint32_t multiprocessors) {
    uint64_t total = 0;
    for (const CompareRequest& request : requests)
      total += request.sizeBytes;
    tileBytes = bulk::tileBytesFor(total, multiprocessors);
    for (const CompareRequest& request : requests) {
      if (request.sizeBytes == 0)
        continue;
      const uint64_t count = bulk::divideUp(request.sizeBytes, tileBytes);
      entries.push_back({request, tiles, tiles + count, groups});
      tiles += count;
      groups += bulk::divideUp(count, bulk::groupTiles);
      noteKernel(request);
    }
  }

  /// As shareOf() in kernels/compare_tile.h.
  void noteKernel(const CompareRequest& request) {
    const bool isF32 = request.type == DataType::F32, isF64 = request.type == DataType::F64;
    if (request.norm != Norm::None)
      (isF32 ? hasFloatNorms : hasOtherNorms) = true;
    else
      (isF32 || isF64 ? hasFloats : hasOthers) = true;
  }

  bool hasNorms() const { return hasFloatNorms || hasOtherNorms; }

  void place(uint64_t base) {
    uint64_t at = base;
    const auto take = [&at](uint64_t bytes) {
      const uint64_t start = at;
      at += bulk::divideUp(bytes, 16) * 16;
      return start;
    };
    table = take(entries.size() * sizeof(CompareEntry));
    flags = take(tiles);
    counts = take(tiles * sizeof(TileCounts));
    norms = take(hasNorms() ? tiles * sizeof(TileNorms) : 0);
    groupCounts = take(groups * sizeof(TileCounts));
    groupNorms = take(hasNorms() ? groups * sizeof(TileNorms) : 0);
    sizeBytes = at - base;
  }
};

void startAll(BulkRunner& runner, const Plan& plan) {
  const uint64_t count = plan.entries.size();
  runner.copyToDevice(plan.table, plan.entries.data(), count * sizeof(CompareEntry));
  bulk::launchWarps(runner, bulk::compareScan, plan.tiles,
                    {plan.table, count, plan.tiles, plan.tileBytes, plan.flags});
  if (plan.hasFloats)
    bulk::launchWarps(runner, bulk::compareFloats, plan.tiles,
                      {plan.table, count, plan.tiles, plan.tileBytes, plan.flags, plan.counts});
  if (plan.hasOthers)
    bulk::launchWarps(runner, bulk::compareElements, plan.tiles,
                      {plan.table, count, plan.tiles, plan.tileBytes, plan.flags, plan.counts});
  if (plan.hasFloatNorms)
    bulk::launchWarps(
        runner, bulk::compareFloatNorms, plan.tiles,
        {plan.table, count, plan.tiles, plan.tileBytes, plan.flags, plan.counts, plan.norms});
  if (plan.hasOtherNorms)
    bulk::launchWarps(
        runner, bulk::compareNorms, plan.tiles,
        {plan.table, count, plan.tiles, plan.tileBytes, plan.flags, plan.counts, plan.norms});
  bulk::launchWarps(runner, bulk::compareGroups, plan.groups,
                    {plan.table, count, plan.groups, plan.flags, plan.counts, plan.norms,
                     plan.groupCounts, plan.groupNorms});
}

void addSums(const NormSums& sums, long double& sum, long double& squares, long double& largest) {
  sum += sums.sum + std::ldexp(static_cast<long double>(sums.hugeSum), 600);
  squares += sums.squares + std::ldexp(static_cast<long double>(sums.hugeSquares), 1200) +
             std::ldexp(static_cast<long double>(sums.tinySquares), -1200);
  largest = std::max<long double>(largest, sums.largest);
}

ComparePart partOf(const TileCounts& counts, const TileNorms* norms) {
  ComparePart part;
  part.mismatchCount = counts.mismatchCount;
  part.differentCount = counts.differentCount;
  part.firstMismatch = counts.firstMismatch;
  part.firstActualBits = counts.firstActualBits;
  part.firstExpectedBits = counts.firstExpectedBits;
  part.maxAbsolute = counts.maxAbsolute;
  part.maxRelative = counts.maxRelative;
  part.maxUlp = counts.maxUlp;
  if (norms) {
    addSums(norms->difference, part.sum, part.sumSquares, part.largest);
    addSums(norms->expected, part.expectedSum, part.expectedSumSquares, part.expectedLargest);
  }
  return part;
}

} // namespace

std::vector<CompareReport> BulkOperations::compare(std::span<const CompareRequest> requests) {
  for (const CompareRequest& request : requests)
    checkRequest(request);
  Plan plan;
  plan.cut(requests, runner_.multiprocessors());
  std::vector<TileCounts> counts(plan.groups);
  std::vector<TileNorms> norms(plan.hasNorms() ? plan.groups : 0);
  if (plan.groups > 0) {
    plan.place(0);
    plan.place(runner_.scratch(plan.sizeBytes));
    if (plan.hasNorms()) // kernels leave out groups that need none
      runner_.clear(plan.groupNorms, norms.size() * sizeof(TileNorms));
    startAll(runner_, plan);
    runner_.copyToHost(counts.data(), plan.groupCounts, counts.size() * sizeof(TileCounts));
    if (plan.hasNorms())
      runner_.copyToHost(norms.data(), plan.groupNorms, norms.size() * sizeof(TileNorms));
  }
  std::vector<CompareReport> reports;
  uint64_t group = 0;
  for (const CompareRequest& request : requests) {
    ComparePart part;
    bool isTailDifferent = false;
    const uint64_t end =
        group + bulk::divideUp(bulk::divideUp(request.sizeBytes, plan.tileBytes), bulk::groupTiles);
    for (; group < end; ++group) {
      mergeParts(part, partOf(counts[group], request.norm == Norm::None ? nullptr : &norms[group]));
      isTailDifferent |= counts[group].isTailDifferent != 0;
    }
    reports.push_back(makeReport(request, part, isTailDifferent));
  }
  return reports;
}

} // namespace mneme::device
