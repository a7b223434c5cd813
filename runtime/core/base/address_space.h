// Room core/base: limits on the addresses of a process.
#pragma once

#include <algorithm>
#include <cstdint>

#include <sys/resource.h>

namespace mneme {

/// Returns `most`, or the part 1/`parts` of what `ulimit -v` allows if that is less. Several parts
/// of mneme reserve addresses before they know how many they need, and the program needs some, too.
inline uint64_t shareOfAddresses(uint64_t most, uint64_t parts) noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return most;
  return std::min<uint64_t>(most, limit.rlim_cur / parts);
}

} // namespace mneme
