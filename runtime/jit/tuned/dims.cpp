#include "runtime/jit/tuned/dims.h"

#include <algorithm>

namespace mneme::tuned {
namespace {

// Limits that every GPU of every vendor keeps; a launch beyond them fails.
constexpr uint64_t kMaxBlockThreads = 1024;
constexpr uint64_t kMaxBlockDepth = 64;
constexpr uint64_t kMaxGridX = 0x7fffffff;
constexpr uint64_t kMaxGridYz = 65535;

/// Blocks of `block` threads that cover what `blocks` of `threads` do; 0 if they do not fit.
uint32_t dividedAxis(uint32_t blocks, uint32_t threads, uint32_t block) {
  const uint64_t extent = uint64_t{blocks} * threads;
  if (block == 0 || extent % block != 0)
    return 0;
  return static_cast<uint32_t>(std::min<uint64_t>(extent / block, UINT32_MAX));
}

/// A single block says nothing about several along that axis.
bool isTried(uint32_t matchedBlocks, uint32_t matched, uint32_t tuned, uint32_t blocks) {
  return matched == tuned || matchedBlocks > 1 || blocks == matchedBlocks;
}

std::optional<Dims> coveringDims(const LaunchOverride& rule, const Dims& launched) {
  const mneme_dim3 &block = rule.tuned.block, &grid = rule.matched.grid,
                   &matched = rule.matched.block;
  if (!isTried(grid.x, matched.x, block.x, launched.grid.x) ||
      !isTried(grid.y, matched.y, block.y, launched.grid.y) ||
      !isTried(grid.z, matched.z, block.z, launched.grid.z))
    return std::nullopt;
  return Dims{.grid = {dividedAxis(launched.grid.x, launched.block.x, block.x),
                       dividedAxis(launched.grid.y, launched.block.y, block.y),
                       dividedAxis(launched.grid.z, launched.block.z, block.z)},
              .block = block};
}

/// The tuned grid, longer or shorter in x by the ratio of launched to matched threads.
std::optional<Dims> scaledDims(const LaunchOverride& rule, const Dims& launched) {
  const std::optional<uint64_t> now = threadsOf(launched);
  const std::optional<uint64_t> then = threadsOf(rule.matched);
  if (!now || !then || *now == 0 || *then == 0)
    return std::nullopt;
  // 31 and 64 bits: no overflow in 128. Rounded up, so that there is always a block.
  const auto wanted =
      (static_cast<unsigned __int128>(rule.tuned.grid.x) * *now + *then - 1) / *then;
  Dims scaled = rule.tuned;
  scaled.grid.x = static_cast<uint32_t>(std::min<unsigned __int128>(wanted, kMaxGridX));
  return scaled;
}

} // namespace

std::optional<uint64_t> volume(const mneme_dim3& dims) {
  uint64_t product = 0;
  if (__builtin_mul_overflow(uint64_t{dims.x} * dims.y, uint64_t{dims.z}, &product))
    return std::nullopt;
  return product;
}

std::optional<uint64_t> threadsOf(const Dims& dims) {
  const std::optional<uint64_t> blocks = volume(dims.grid);
  const std::optional<uint64_t> threads = volume(dims.block);
  uint64_t product = 0;
  if (!blocks || !threads || __builtin_mul_overflow(*blocks, *threads, &product))
    return std::nullopt;
  return product;
}

bool isPossible(const Dims& dims) {
  const std::optional<uint64_t> threads = volume(dims.block);
  const std::optional<uint64_t> blocks = volume(dims.grid);
  return threads && *threads > 0 && *threads <= kMaxBlockThreads &&
         dims.block.z <= kMaxBlockDepth && blocks && *blocks > 0 && dims.grid.x <= kMaxGridX &&
         dims.grid.y <= kMaxGridYz && dims.grid.z <= kMaxGridYz;
}

std::optional<Dims> overrideDims(const LaunchOverride& rule, const Dims& launched,
                                 Likeness likeness) {
  // What the program launches wrongly fails as it would without us.
  if (!isPossible(launched) || !isPossible(rule.tuned) || likeness == Likeness::Other ||
      !(launched.block == rule.matched.block))
    return std::nullopt;
  const bool isSameGrid = launched.grid == rule.matched.grid;
  // With other sizes the same threads may have other work.
  const bool isTriedSize = likeness >= Likeness::SameCounts && rule.rule != LaunchRule::Exact;
  std::optional<Dims> result;
  if (isSameGrid && (isTriedSize || likeness == Likeness::Same))
    result = rule.tuned;
  else if (isTriedSize && rule.rule == LaunchRule::Cover)
    result = coveringDims(rule, launched);
  else if (isTriedSize && rule.rule == LaunchRule::Agnostic &&
           launched.grid.y == rule.matched.grid.y && launched.grid.z == rule.matched.grid.z)
    result = scaledDims(rule, launched);
  if (!result || !isPossible(*result))
    return std::nullopt;
  return result;
}

} // namespace mneme::tuned
