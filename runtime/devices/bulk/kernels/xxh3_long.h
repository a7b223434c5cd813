// Room devices: XXH3 (128 bits, seed 0, default secret) of inputs longer than 240 bytes by one
// warp. After xxHash by Yann Collet, BSD-2-Clause: see LICENSE-xxHash.
//
// A block of 1024 bytes is 16 stripes of 8 words; word i of stripe s goes, with secret word s + i,
// into accumulators i and i ^ 1. All of that are sums, so lanes may add in any order: a lane takes
// the words 2p and 2p + 1 (p = lane % 4) of stripes lane / 4 and lane / 4 + 8 and the warp adds up
// what belongs together. Then every lane holds accumulator 2p + b (b = bit 2 of the lane) and
// scrambles it for the next block.
#pragma once

#include "xxh3_short.h"

namespace xxh3 {

constexpr uint64_t blockBytes = 1024, stripeBytes = 64;

struct Sums {
  uint64_t even = 0, odd = 0; ///< of accumulators 2p and 2p + 1

  void add(gpu::Pair data, gpu::Pair keys) {
    const gpu::Pair mixed = data ^ keys;
    even += data.y + (mixed.x & 0xffffffff) * (mixed.x >> 32);
    odd += data.x + (mixed.y & 0xffffffff) * (mixed.y >> 32);
  }
};

template <bool isAligned> class WarpHash {
public:
  WarpHash() {
    const uint32_t pair = gpu::lane() % 4, stripe = gpu::lane() / 4;
    const uint32_t mine = 2 * pair + stripe % 2;
    keys_[0] = {secretWords[stripe + 2 * pair], secretWords[stripe + 2 * pair + 1]};
    keys_[1] = {secretWords[stripe + 2 * pair + 8], secretWords[stripe + 2 * pair + 9]};
    scrambleKey_ = secretWords[secretBytes / 8 - 8 + mine];
    constexpr uint64_t initial[8] = {prime32c, prime64a, prime64b, prime64c,
                                     prime64d, prime32b, prime64e, prime32a};
    initial_ = initial[mine];
  }

  /// The same in every lane. `length` is more than shortBytes.
  Hash hash(uint64_t input, uint64_t length) const {
    uint64_t state = initial_;
    const uint64_t blocks = (length - 1) / blockBytes;
    uint64_t at = input + gpu::lane() * gpu::pairBytes;
    uint64_t block = 0;
    for (; block + unroll <= blocks; block += unroll, at += unroll * blockBytes)
      addBlocks<unroll>(state, at);
    for (; block < blocks; ++block, at += blockBytes)
      addBlocks<1>(state, at);
    addRest(state, at, input + length, (length - 1) % blockBytes / stripeBytes);
    return merge(state, length);
  }

private:
  static constexpr uint32_t unroll = 4;

  template <uint32_t count> void addBlocks(uint64_t& state, uint64_t at) const {
    gpu::Pair data[2 * count];
#pragma unroll
    for (uint32_t k = 0; k < 2 * count; ++k)
      data[k] = gpu::loadPair<isAligned>(at + k * (blockBytes / 2));
#pragma unroll
    for (uint32_t k = 0; k < count; ++k) {
      Sums sums;
      sums.add(data[2 * k], keys_[0]);
      sums.add(data[2 * k + 1], keys_[1]);
      state += collect(sums);
      state = (xorShift(state, 47) ^ scrambleKey_) * prime32a;
    }
  }

  /// The whole stripes of the last block, then the last 64 bytes of the input once more.
  void addRest(uint64_t& state, uint64_t at, uint64_t end, uint64_t stripes) const {
    const uint32_t stripe = gpu::lane() / 4;
    Sums sums;
    if (stripe < stripes)
      sums.add(gpu::loadPair<isAligned>(at), keys_[0]);
    if (stripe + 8 < stripes)
      sums.add(gpu::loadPair<isAligned>(at + blockBytes / 2), keys_[1]);
    if (stripe == 0) {
      const uint32_t offset = gpu::lane() * gpu::pairBytes;
      const uint32_t secretAt = secretBytes - stripeBytes - 7 + offset;
      sums.add(gpu::loadPair<false>(end - stripeBytes + offset),
               gpu::Pair{secret(secretAt), secret(secretAt + 8)});
    }
    state += collect(sums);
  }

  static uint64_t collect(const Sums& sums) {
    const bool isOdd = gpu::lane() & 4;
    uint64_t sum = isOdd ? sums.odd : sums.even;
    sum += gpu::shuffleXor(isOdd ? sums.even : sums.odd, 4);
    sum += gpu::shuffleXor(sum, 8);
    return sum + gpu::shuffleXor(sum, 16);
  }

  static Hash merge(uint64_t state, uint64_t length) {
    const bool isOdd = gpu::lane() & 4;
    const uint64_t other = gpu::shuffleXor(state, 4);
    const uint64_t even = isOdd ? other : state, odd = isOdd ? state : other;
    const uint32_t at = 16 * (gpu::lane() % 4);
    uint64_t low = mergePair(even, odd, 11 + at);
    uint64_t high = mergePair(even, odd, secretBytes - 64 - 11 + at);
    for (uint32_t mask = 1; mask <= 2; mask *= 2) {
      low += gpu::shuffleXor(low, mask);
      high += gpu::shuffleXor(high, mask);
    }
    return {avalanche(low + length * prime64a), avalanche(high + ~(length * prime64b))};
  }

  static uint64_t mergePair(uint64_t even, uint64_t odd, uint32_t secretAt) {
    return fold(even ^ secret(secretAt), odd ^ secret(secretAt + 8));
  }

  gpu::Pair keys_[2];
  uint64_t scrambleKey_, initial_;
};

} // namespace xxh3
