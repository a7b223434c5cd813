// Shuffles, votes, matches, active masks, warp reductions.
#include "check.h"

template <typename T> __global__ void shuffles(const T* input, T* output) {
  const unsigned t = threadIdx.x;
  const T value = input[t];
  T* row = output + t * 8;
  row[0] = __shfl_sync(0xffffffff, value, 5);
  row[1] = __shfl_up_sync(0xffffffff, value, 3);
  row[2] = __shfl_down_sync(0xffffffff, value, 4);
  row[3] = __shfl_xor_sync(0xffffffff, value, 9);
  row[4] = __shfl_sync(0xffffffff, value, t + 1, 8);
  row[5] = __shfl_up_sync(0xffffffff, value, 1, 4);
  row[6] = __shfl_down_sync(0xffffffff, value, 2, 16);
  row[7] = __shfl_xor_sync(0xffffffff, value, 1, 2);
}

template <typename T> void testShuffles() {
  constexpr int threads = 64;
  Buffer<T> input(threads), output(threads * 8);
  for (int t = 0; t < threads; ++t)
    input[t] = static_cast<T>(t * 3 + 1);
  input.upload();
  shuffles<T><<<1, threads>>>(input.device(), output.device());
  expectLaunched();
  output.download();
  for (int t = 0; t < threads; ++t) {
    const int lane = t % 32, base = t - lane;
    const auto at = [&](int other) { return input[base + other]; };
    const T* row = output.host() + t * 8;
    check(row[0] == at(5), "shfl");
    check(row[1] == at(lane >= 3 ? lane - 3 : lane), "shfl up");
    check(row[2] == at(lane + 4 < 32 ? lane + 4 : lane), "shfl down");
    check(row[3] == at(lane ^ 9), "shfl xor");
    check(row[4] == at(lane / 8 * 8 + (lane + 1) % 8), "shfl width 8");
    check(row[5] == at(lane % 4 ? lane - 1 : lane), "shfl up width 4");
    check(row[6] == at(lane % 16 < 14 ? lane + 2 : lane), "shfl down width 16");
    check(row[7] == at(lane ^ 1), "shfl xor width 2");
  }
}

__global__ void votes(unsigned* output) {
  const unsigned lane = threadIdx.x;
  unsigned* row = output + lane * 12;
  row[0] = __ballot_sync(0xffffffff, lane % 3 == 0);
  row[1] = __any_sync(0xffffffff, lane == 31);
  row[2] = __all_sync(0xffffffff, lane < 31);
  row[3] = __all_sync(0xffffffff, lane < 32);
  row[4] = __match_any_sync(0xffffffff, lane / 4);
  int isEqual = -1;
  row[5] = __match_all_sync(0xffffffff, 7, &isEqual);
  row[6] = isEqual;
  row[7] = __match_all_sync(0xffffffff, lane, &isEqual);
  row[8] = isEqual;
  row[9] = __match_any_sync(0xffffffff, 0x100000000ull * (lane % 2));
  if (lane < 10)
    row[10] = __ballot_sync(0x3ff, lane % 2);
  else
    row[10] = __ballot_sync(0xfffffc00, lane > 20);
  row[11] = __activemask();
}

__global__ void divergent(unsigned* output) {
  const unsigned lane = threadIdx.x;
  if (lane % 2)
    output[lane] = __shfl_sync(0xaaaaaaaa, lane, 31) + 100 * __popc(__activemask() & 0xaaaaaaaa);
  else
    output[lane] = __shfl_sync(0x55555555, lane, 2);
  __syncwarp();
}

__global__ void reductions(const unsigned* input, unsigned* output) {
  const unsigned lane = threadIdx.x;
  const unsigned value = input[lane];
  unsigned* row = output + lane * 8;
  row[0] = __reduce_add_sync(0xffffffff, value);
  row[1] = __reduce_min_sync(0xffffffff, value);
  row[2] = __reduce_max_sync(0xffffffff, value);
  row[3] = __reduce_and_sync(0xffffffff, value);
  row[4] = __reduce_or_sync(0xffffffff, value);
  row[5] = __reduce_xor_sync(0xffffffff, value);
  row[6] = __reduce_min_sync(0xffffffff, static_cast<int>(value));
  row[7] = __reduce_max_sync(0xffffffff, static_cast<int>(value));
}

void testReductions() {
  Buffer<unsigned> input(32), output(256);
  unsigned sum = 0, low = ~0u, high = 0, all = ~0u, any = 0, odd = 0;
  int lowest = 2147483647, highest = -2147483647;
  for (int lane = 0; lane < 32; ++lane) {
    const unsigned value = input[lane] = lane * 0x9e3779b9u + 12345u;
    sum += value;
    low = value < low ? value : low;
    high = value > high ? value : high;
    all &= value;
    any |= value;
    odd ^= value;
    lowest = static_cast<int>(value) < lowest ? static_cast<int>(value) : lowest;
    highest = static_cast<int>(value) > highest ? static_cast<int>(value) : highest;
  }
  input.upload();
  reductions<<<1, 32>>>(input.device(), output.device());
  expectLaunched();
  output.download();
  for (int lane = 0; lane < 32; ++lane) {
    const unsigned* row = output.host() + lane * 8;
    check(row[0] == sum && row[1] == low && row[2] == high, "redux add, min, max");
    check(row[3] == all && row[4] == any && row[5] == odd, "redux and, or, xor");
    check(static_cast<int>(row[6]) == lowest && static_cast<int>(row[7]) == highest,
          "redux of signed");
  }
}

/// Lanes that took a branch act as one: one adds for all, and the others take their places from it.
__device__ unsigned takePlace(unsigned* count) {
  const unsigned mask = __activemask(), lane = threadIdx.x % 32;
  const int leader = __ffs(mask) - 1;
  unsigned first = 0;
  if (lane == leader)
    first = atomicAdd(count, __popc(mask));
  return __shfl_sync(mask, first, leader) + __popc(mask & ((1u << lane) - 1));
}

__global__ void aggregate(unsigned* kept, unsigned* masks, unsigned* counts) {
  const unsigned t = threadIdx.x;
  if (t % 5 != 1 && t % 3 != 2)
    kept[takePlace(&counts[0])] = t;
  if (t % 3 == 0) { // only as many as there are
    const unsigned mask = masks[t] = __activemask();
    if (t % 32 == __ffs(mask) - 1)
      atomicAdd(&counts[1], __popc(mask));
  }
  if (t % 7 < 4) { // for each number one
    const unsigned same = __match_any_sync(__activemask(), t % 2);
    if (t % 32 == __ffs(same) - 1)
      atomicAdd(&counts[2 + t % 2], __popc(same));
  }
}

void testAggregation() {
  constexpr unsigned threads = 256;
  Buffer<unsigned> kept(threads), masks(threads), counts(4);
  for (int i = 0; i < 4; ++i)
    counts[i] = 0;
  counts.upload();
  aggregate<<<1, threads>>>(kept.device(), masks.device(), counts.device());
  expectLaunched();
  for (Buffer<unsigned>* buffer : {&kept, &masks, &counts})
    buffer->download();
  unsigned expected[4] = {}, sum = 0;
  for (unsigned t = 0; t < threads; ++t) {
    const bool isKept = t % 5 != 1 && t % 3 != 2;
    expected[0] += isKept;
    sum += isKept ? t : 0;
    expected[1] += t % 3 == 0;
    expected[2 + t % 2] += t % 7 < 4;
    check(t % 3 || masks[t] >> (t % 32) & 1, "active mask behind a branch holds the thread");
  }
  for (int i = 0; i < 4; ++i)
    check(counts[i] == expected[i], "lanes that took a branch are counted once");
  for (unsigned place = 0; place < counts[0]; ++place)
    sum -= kept[place];
  check(sum == 0, "each has a place of its own");
}

int main() {
  testAggregation();
  testShuffles<int>();
  testShuffles<unsigned>();
  testShuffles<float>();
  testShuffles<double>();
  testShuffles<long long>();
  Buffer<unsigned> output(32 * 12);
  votes<<<1, 32>>>(output.device());
  expectLaunched();
  output.download();
  unsigned thirds = 0;
  for (int lane = 0; lane < 32; lane += 3)
    thirds |= 1u << lane;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned* row = output.host() + lane * 12;
    check(row[0] == thirds, "ballot");
    check(row[1] == 1 && row[2] == 0 && row[3] == 1, "any, all");
    check(row[4] == 0xfu << (lane / 4 * 4), "match any");
    check(row[5] == 0xffffffff && row[6] == 1, "match all, equal");
    check(row[7] == 0 && row[8] == 0, "match all, different");
    check(row[9] == (lane % 2 ? 0xaaaaaaaa : 0x55555555), "match any 64");
    check(row[10] == (lane < 10 ? 0x2aau : 0xffe00000u), "ballot of a part");
    check(row[11] >> lane & 1, "active mask holds the thread");
  }
  Buffer<unsigned> parts(32);
  divergent<<<1, 32>>>(parts.device());
  expectLaunched();
  parts.download();
  for (unsigned lane = 0; lane < 32; ++lane)
    check(parts[lane] % 100 == (lane % 2 ? 31u : 2u), "divergent shuffle");
#if __clang_major__ >= 21 // before, clang swapped the arguments of __reduce_*_sync
  testReductions();
#endif
  return finish("warp");
}
