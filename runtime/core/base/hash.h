// Room core/base: checksums and content hashes (xxHash, BSD-2-Clause).
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace mneme {

/// 128-bit content hash (XXH3_128bits, seed 0): the identity of a chunk of memory. Not
/// cryptographic: it guards against accidents, not against an attacker who makes collisions.
struct Hash128 {
  uint64_t low = 0;
  uint64_t high = 0;
  auto operator<=>(const Hash128&) const = default;
};

Hash128 hash128(std::span<const std::byte> bytes) noexcept;

/// XXH3_64bits, seed 0. Equal to llvm::xxh3_64bits, so passes and runtime agree.
uint64_t hash64(std::span<const std::byte> bytes) noexcept;
uint64_t hash64(const std::string& text) noexcept;

/// Order-dependent mix of two hashes.
uint64_t combineHashes(uint64_t first, uint64_t second) noexcept;

/// 16 (32) lower-case hexadecimal digits.
std::string toHex(uint64_t value);
std::string toHex(const Hash128& value);

} // namespace mneme

template <> struct std::hash<mneme::Hash128> {
  size_t operator()(const mneme::Hash128& value) const noexcept { return value.low ^ value.high; }
};
