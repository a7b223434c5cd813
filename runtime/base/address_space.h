// Room base: how many addresses a process may have.
#pragma once

#include <algorithm>
#include <cstdint>

#include <sys/resource.h>

namespace mneme {

/// `most`, or a part of what `ulimit -v` allows where that is less: several of us reserve addresses
/// before they know how many they will need, and the program needs some, too.
inline uint64_t shareOfAddresses(uint64_t most, uint64_t parts) noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return most;
  return std::min<uint64_t>(most, limit.rlim_cur / parts);
}

} // namespace mneme
