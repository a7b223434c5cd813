// Room jit/tuned: dimensions that replace those of the program's launches. Pure arithmetic.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/core/abi/mneme_rt.h"

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
  Dims tuned;   ///< the better dimensions that were found
};

inline bool operator==(const mneme_dim3& left, const mneme_dim3& right) noexcept {
  return left.x == right.x && left.y == right.y && left.z == right.z;
}
inline bool operator==(const Dims& left, const Dims& right) noexcept {
  return left.grid == right.grid && left.block == right.block;
}

/// Returns the product of the axes; nothing if it overflows.
std::optional<uint64_t> volume(const mneme_dim3& dims);
/// Returns the number of threads of a launch; nothing if that overflows.
std::optional<uint64_t> threadsOf(const Dims& dims);

/// Whether a device could launch it: no axis is zero or beyond the limits of all devices.
bool isPossible(const Dims& dims);

/// How similar a launch is to the one of `Match`, apart from dimensions; best last.
enum class Likeness {
  Other,      ///< nothing is known
  SameShared, ///< dynamic shared memory is the same
  SameCounts, ///< and arguments, except floating-point ones
  Same,       ///< all arguments are the same; pointers never matter
};

/// Returns the dimensions to launch instead of `launched`; nothing: keep them. They are never empty
/// or impossible. Blocks other than the matched one are kept, because nothing is known about them.
std::optional<Dims> overrideDims(const LaunchOverride& rule, const Dims& launched,
                                 Likeness likeness);

} // namespace mneme::tuned
