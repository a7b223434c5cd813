// Room core/abi: how much of a cache that is also shared memory a program prefers to be which.
#pragma once

#include <cstdint>

namespace mneme {

/// Numbers of the vendors that have it. A preference, which the driver need not follow.
enum class CacheConfig : uint8_t { None = 0, Shared = 1, L1 = 2, Equal = 3 };

constexpr CacheConfig cacheConfigOf(int number) noexcept {
  return number < 0 || number > 3 ? CacheConfig::None : static_cast<CacheConfig>(number);
}

} // namespace mneme
