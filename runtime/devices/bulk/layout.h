// Room devices: the tables that bulk kernels and their host side share. Compiled for the host and
// for GPUs; no library headers.
#pragma once

#include <stdint.h>

#include "runtime/devices/compare_types.h"

namespace mneme::device::bulk {

/// One range, divided into units (pages or tiles) that are numbered consecutively over all ranges
/// of a table.
struct Range {
  uint64_t first = 0;     ///< hash: address; copy: destination
  uint64_t second = 0;    ///< copy: source
  uint64_t sizeBytes = 0; ///< never 0
  uint64_t firstUnit = 0; ///< number of this range's first unit
};

/// Addresses that are searched for; a table of them is disjoint and ascending.
struct Target {
  uint64_t begin = 0;
  uint64_t sizeBytes = 0;
};

/// One request of a fused comparison, cut into tiles like a Range.
struct CompareEntry {
  CompareRequest request;
  uint64_t firstUnit = 0;
  uint64_t endUnit = 0;
  uint64_t firstGroup = 0; ///< the tiles of a request are added up in groups of groupTiles
};

constexpr uint64_t groupTiles = 1024;

/// The result for a tile or for a group of tiles.
struct TileCounts {
  uint64_t mismatchCount;
  uint64_t differentCount;
  uint64_t firstMismatch;   ///< all ones: none
  uint64_t firstActualBits; ///< bits: for groups only
  uint64_t firstExpectedBits;
  double maxAbsolute;
  double maxRelative;
  uint64_t maxUlp;
  uint64_t isTailDifferent;
};

/// Sums of |x| and x * x over elements. Values that are too large to be squared or added up in
/// double are summed scaled down by `hugeScale`, those whose squares vanish scaled up by
/// `tinyScale`.
struct NormSums {
  double sum, squares;
  double hugeSum, hugeSquares;
  double tinySquares;
  double largest;
};

struct TileNorms {
  NormSums difference, expected;
};

constexpr double hugeLimit = 0x1p480, tinyLimit = 0x1p-480;
constexpr double hugeScale = 0x1p-600, tinyScale = 0x1p600;

} // namespace mneme::device::bulk
