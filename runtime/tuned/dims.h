// Room tuned: other dimensions than the program launches with. Pure arithmetic.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/abi/mneme_rt.h"

namespace mneme::tuned {

/// Grid and block of a launch, as launched or overridden.
struct Dims {
  mneme_dim3 grid{1, 1, 1};
  mneme_dim3 block{1, 1, 1};
};

enum class LaunchRule { Exact, Cover, Agnostic };

/// `Launch` of a variant with the dimensions of its `Match`.
struct LaunchOverride {
  LaunchRule rule = LaunchRule::Exact;
  Dims matched; ///< what was launched where the variant was found
  Dims tuned;   ///< what was found better
};

inline bool operator==(const mneme_dim3& left, const mneme_dim3& right) noexcept {
  return left.x == right.x && left.y == right.y && left.z == right.z;
}
inline bool operator==(const Dims& left, const Dims& right) noexcept {
  return left.grid == right.grid && left.block == right.block;
}

/// Product of the axes; nothing if it overflows.
std::optional<uint64_t> volume(const mneme_dim3& dims);
/// Threads of a launch; nothing if there are too many to count.
std::optional<uint64_t> threadsOf(const Dims& dims);

/// Whether a device could launch it: nothing empty, nothing beyond the limits all devices keep.
bool isPossible(const Dims& dims);

/// How like a launch is to the one of `Match`, dimensions apart; best last.
enum class Likeness {
  Other,      ///< nothing is known
  SameShared, ///< dynamic shared memory is the same
  SameCounts, ///< and every argument that can count or point: only floating-point ones differ
  Same,       ///< and the others; pointers never matter
};

/// What to launch instead of `launched`; nothing: as launched. The shape is never empty or
/// impossible. Blocks other than the matched one are kept, because nothing is known of them.
std::optional<Dims> overrideDims(const LaunchOverride& rule, const Dims& launched,
                                 Likeness likeness);

} // namespace mneme::tuned
