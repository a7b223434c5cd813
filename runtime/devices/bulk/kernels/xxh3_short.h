// Room devices: XXH3 (128 bits, seed 0, default secret) of inputs of at most 240 bytes, one thread.
// After xxHash by Yann Collet, BSD-2-Clause: see LICENSE-xxHash.
#pragma once

#include "access.h"

namespace xxh3 {

struct Hash {
  uint64_t low, high;
};

constexpr uint64_t prime32a = 0x9E3779B1u, prime32b = 0x85EBCA77u, prime32c = 0xC2B2AE3Du;
constexpr uint64_t prime64a = 0x9E3779B185EBCA87u, prime64b = 0xC2B2AE3D27D4EB4Fu,
                   prime64c = 0x165667B19E3779F9u, prime64d = 0x85EBCA77C2B2AE63u,
                   prime64e = 0x27D4EB2F165667C5u;

/// The default secret, 192 bytes, as little-endian words.
constexpr uint32_t secretBytes = 192;
constexpr uint64_t secretWords[secretBytes / 8] = {
    0xbe4ba423396cfeb8u, 0x1cad21f72c81017cu, 0xdb979083e96dd4deu, 0x1f67b3b7a4a44072u,
    0x78e5c0cc4ee679cbu, 0x2172ffcc7dd05a82u, 0x8e2443f7744608b8u, 0x4c263a81e69035e0u,
    0xcb00c391bb52283cu, 0xa32e531b8b65d088u, 0x4ef90da297486471u, 0xd8acdea946ef1938u,
    0x3f349ce33f76faa8u, 0x1d4f0bc7c7bbdcf9u, 0x3159b4cd4be0518au, 0x647378d9c97e9fc8u,
    0xc3ebd33483acc5eau, 0xeb6313faffa081c5u, 0x49daf0b751dd0d17u, 0x9e68d429265516d3u,
    0xfca1477d58be162bu, 0xce31d07ad1b8f88fu, 0x280416958f3acb45u, 0x7e404bbbcafbd7afu,
};

/// 8 bytes of the secret at any offset.
inline uint64_t secret(uint32_t offset) {
  const uint32_t word = offset / 8, shift = offset % 8 * 8;
  return shift == 0 ? secretWords[word]
                    : secretWords[word] >> shift | secretWords[word + 1] << (64 - shift);
}

inline uint64_t load64(uint64_t address) { return gpu::loadBytes(address, 8); }

inline Hash multiply(uint64_t a, uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return {static_cast<uint64_t>(product), static_cast<uint64_t>(product >> 64)};
}
inline uint64_t fold(uint64_t a, uint64_t b) {
  const Hash product = multiply(a, b);
  return product.low ^ product.high;
}
inline uint64_t xorShift(uint64_t value, uint32_t shift) { return value ^ value >> shift; }
inline uint64_t avalanche(uint64_t hash) {
  return xorShift(xorShift(hash, 37) * 0x165667919E3779F9u, 32);
}
inline uint64_t avalanche64(uint64_t hash) {
  return xorShift(xorShift(xorShift(hash, 33) * prime64b, 29) * prime64c, 32);
}

inline Hash hashUpTo3(uint64_t input, uint32_t length) {
  const uint32_t first = gpu::load<uint8_t>(input), middle = gpu::load<uint8_t>(input + length / 2),
                 last = gpu::load<uint8_t>(input + length - 1);
  const uint32_t low = first << 16 | middle << 24 | last | length << 8;
  const uint32_t swapped = __builtin_bswap32(low);
  const uint32_t high = swapped << 13 | swapped >> 19;
  const uint64_t flips = secret(0), otherFlips = secret(8);
  return {avalanche64(low ^ (static_cast<uint32_t>(flips) ^ flips >> 32)),
          avalanche64(high ^ (static_cast<uint32_t>(otherFlips) ^ otherFlips >> 32))};
}

inline Hash hashUpTo8(uint64_t input, uint32_t length) {
  const uint64_t words = gpu::loadBytes(input, 4) + (gpu::loadBytes(input + length - 4, 4) << 32);
  Hash hash = multiply(words ^ secret(16) ^ secret(24), prime64a + (length << 2));
  hash.high += hash.low << 1;
  hash.low ^= hash.high >> 3;
  hash.low = xorShift(xorShift(hash.low, 35) * 0x9FB21C651E98DF25u, 28);
  hash.high = avalanche(hash.high);
  return hash;
}

inline Hash hashUpTo16(uint64_t input, uint32_t length) {
  const uint64_t low = load64(input);
  uint64_t high = load64(input + length - 8);
  Hash middle = multiply(low ^ high ^ secret(32) ^ secret(40), prime64a);
  middle.low += static_cast<uint64_t>(length - 1) << 54;
  high ^= secret(48) ^ secret(56);
  middle.high += high + static_cast<uint64_t>(static_cast<uint32_t>(high)) * (prime32b - 1);
  middle.low ^= __builtin_bswap64(middle.high);
  Hash hash = multiply(middle.low, prime64b);
  hash.high += middle.high * prime64b;
  return {avalanche(hash.low), avalanche(hash.high)};
}

inline void mix(Hash& state, uint64_t first, uint64_t second, uint32_t secretAt) {
  const uint64_t a = load64(first), b = load64(first + 8);
  const uint64_t c = load64(second), d = load64(second + 8);
  state.low += fold(a ^ secret(secretAt), b ^ secret(secretAt + 8));
  state.low ^= c + d;
  state.high += fold(c ^ secret(secretAt + 16), d ^ secret(secretAt + 24));
  state.high ^= a + b;
}

inline Hash finishMixed(const Hash& state, uint64_t length) {
  return {avalanche(state.low + state.high),
          0 - avalanche(state.low * prime64a + state.high * prime64d + length * prime64b)};
}

inline Hash hashUpTo128(uint64_t input, uint32_t length) {
  Hash state = {length * prime64a, 0};
  for (uint32_t round = (length - 1) / 32 + 1; round-- > 0;)
    mix(state, input + 16 * round, input + length - 16 * (round + 1), 32 * round);
  return finishMixed(state, length);
}

inline Hash hashUpTo240(uint64_t input, uint32_t length) {
  Hash state = {length * prime64a, 0};
  for (uint32_t round = 0; round < length / 32; ++round) {
    if (round == 4)
      state = {avalanche(state.low), avalanche(state.high)};
    mix(state, input + 32 * round, input + 32 * round + 16,
        round < 4 ? 32 * round : 32 * (round - 4) + 3);
  }
  if (length / 32 == 4)
    state = {avalanche(state.low), avalanche(state.high)};
  mix(state, input + length - 16, input + length - 32, 136 - 17 - 16);
  return finishMixed(state, length);
}

constexpr uint32_t shortBytes = 240;

GPU_FUNCTION Hash hashShort(uint64_t input, uint32_t length) {
  if (length > 128)
    return hashUpTo240(input, length);
  if (length > 16)
    return hashUpTo128(input, length);
  if (length > 8)
    return hashUpTo16(input, length);
  if (length >= 4)
    return hashUpTo8(input, length);
  if (length > 0)
    return hashUpTo3(input, length);
  return {avalanche64(secret(64) ^ secret(72)), avalanche64(secret(80) ^ secret(88))};
}

} // namespace xxh3
