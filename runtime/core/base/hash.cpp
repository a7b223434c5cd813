#include "runtime/core/base/hash.h"

#include <array>
#include <cstdio>

#include <xxhash.h>

namespace mneme {

Hash128 hash128(std::span<const std::byte> bytes) noexcept {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

uint64_t hash64(std::span<const std::byte> bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

uint64_t hash64(const std::string& text) noexcept { return XXH3_64bits(text.data(), text.size()); }

uint64_t combineHashes(uint64_t first, uint64_t second) noexcept {
  const std::array<uint64_t, 2> pair{first, second};
  return XXH3_64bits(pair.data(), sizeof(pair));
}

std::string toHex(uint64_t value) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
  return text.data();
}

std::string toHex(const Hash128& value) { return toHex(value.high) + toHex(value.low); }

} // namespace mneme
