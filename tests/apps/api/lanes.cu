// Lanes of a warp that meet while others are elsewhere or have ended: parts of warps, early
// returns, loops of different lengths, barriers between shuffles.
#include "check.h"

constexpr unsigned everyLane = 0xffffffff;
constexpr int threads = 96;

using Row = int[threads];

/// What lane `lane` of a warp of `values` gets in __shfl_down_sync within parts of `width` lanes.
int downOf(const int* values, int lane, int by, int width = 32) {
  return lane % width + by < width ? values[lane + by] : values[lane];
}

int sumOf(const int* values) {
  int row[32];
  for (int lane = 0; lane < 32; ++lane)
    row[lane] = values[lane];
  for (int by = 16; by > 0; by /= 2) {
    int next[32];
    for (int lane = 0; lane < 32; ++lane)
      next[lane] = row[lane] + downOf(row, lane, by);
    for (int lane = 0; lane < 32; ++lane)
      row[lane] = next[lane];
  }
  return row[0];
}

template <typename T> __device__ T sumOfWarp(T value) {
  for (int by = 16; by > 0; by /= 2)
    value += __shfl_down_sync(everyLane, value, by);
  return value;
}

/// The first `count` lanes, and behind them the others.
__global__ void parts(const int* in, int* out, int count) {
  const int t = threadIdx.x, lane = t % 32;
  const unsigned mask = (1u << count) - 1;
  int value = in[t];
  if (lane < count)
    value = __shfl_sync(mask, value, count - 1) * 2 + (__ballot_sync(mask, value % 3 == 0) & 1);
  else
    value = __popc(__ballot_sync(~mask, value % 2));
  out[t] = value;
}

void checkParts(const int* in, const int* out, int count) {
  for (int t = 0; t < threads; ++t) {
    const int *warp = in + t / 32 * 32, lane = t % 32;
    int odd = 0;
    for (int other = count; other < 32; ++other)
      odd += warp[other] % 2;
    const int expected = lane < count ? warp[count - 1] * 2 + (warp[0] % 3 == 0) : odd;
    check(out[t] == expected, "a part of the lanes under its own mask");
  }
}

/// Lanes that return before the others shuffle, vote and wait for the block.
__global__ void early(const int* in, int* out, int count) {
  const int t = threadIdx.x;
  out[t] = -1;
  if (t >= count)
    return;
  const unsigned mask = __activemask();
  int value = sumOfWarp(in[t]);
  value += __popc(__ballot_sync(everyLane, true)) * 1000 + (mask >> (t % 32) & 1) * 100000;
  __syncthreads();
  out[t] = value + __syncthreads_count(t % 2) * 1000000;
}

void checkEarly(const int* in, const int* out, int count) {
  for (int t = 0; t < threads; ++t) {
    const int first = t / 32 * 32, live = count - first < 32 ? count - first : 32;
    const int votes = live * 1000 + 100000 + count / 2 * 1000000;
    check(t < count || out[t] == -1, "a thread that has returned");
    check(t >= count || t % 32 != 0 || out[t] == sumOf(in + first) + votes,
          "threads that are left");
  }
}

/// As often as the warp's number tells.
__global__ void lengths(const int* in, int* out, int count) {
  const int t = threadIdx.x, warp = t / 32;
  int value = in[t];
  for (int i = 0; i < warp * 2 + count; ++i)
    value = __shfl_xor_sync(everyLane, value, i % 32) + i;
  __syncthreads();
  out[t] = __shfl_sync(everyLane, value, 3);
}

void checkLengths(const int* in, const int* out, int count) {
  Row row, next;
  for (int t = 0; t < threads; ++t)
    row[t] = in[t];
  for (int i = 0; i < threads / 32 * 2 + count; ++i) {
    for (int t = 0; t < threads; ++t)
      next[t] = i < t / 32 * 2 + count ? row[t ^ i % 32] + i : row[t];
    for (int t = 0; t < threads; ++t)
      row[t] = next[t];
  }
  for (int t = 0; t < threads; ++t)
    check(out[t] == row[t / 32 * 32 + 3], "loops that warps run differently often");
}

/// As long as any lane has something left; lanes that have not, only vote.
__global__ void voting(const int* in, int* out, int) {
  const int t = threadIdx.x;
  int left = in[t] % 7, rounds = 0, helped = 0;
  for (;;) {
    const unsigned busy = __ballot_sync(everyLane, left > 0);
    if (busy == 0)
      break;
    ++rounds;
    if (left > 0) {
      helped += __popc(busy) + __shfl_sync(busy, t % 32, __ffs(busy) - 1);
      --left;
    }
  }
  out[t] = rounds * 10000 + helped;
}

void checkVoting(const int* in, const int* out) {
  for (int first = 0; first < threads; first += 32) {
    int helped[32] = {}, rounds = 0;
    for (bool isBusy = true; isBusy;) {
      int busy = 0, lowest = -1;
      for (int lane = 31; lane >= 0; --lane)
        if (in[first + lane] % 7 > rounds)
          ++busy, lowest = lane;
      for (int lane = 0; lane < 32; ++lane)
        helped[lane] += in[first + lane] % 7 > rounds ? busy + lowest : 0;
      isBusy = busy > 0;
      rounds += isBusy;
    }
    for (int lane = 0; lane < 32; ++lane)
      check(out[first + lane] == rounds * 10000 + helped[lane], "lanes that vote on going on");
  }
}

/// A block's sum in two stages, of 64 bits.
__global__ void stages(const int* in, long long* out) {
  __shared__ long long sums[32];
  const int t = threadIdx.x, warp = t / 32, lane = t % 32;
  long long sum = sumOfWarp(in[t] * 0x100000001ll);
  if (lane == 0)
    sums[warp] = sum;
  __syncthreads();
  if (warp == 0)
    sum = sumOfWarp(lane < blockDim.x / 32 ? sums[lane] : 0);
  if (t == 0)
    *out = sum;
}

/// Widths of 8 and 16, from lanes that data tell, with barriers between.
__global__ void widths(const int* in, int* out, int count) {
  __shared__ int values[threads];
  const int t = threadIdx.x;
  int value = __shfl_down_sync(everyLane, in[t], count, 8);
  values[t] = value;
  __syncthreads();
  value = __shfl_down_sync(everyLane, values[threads - 1 - t], 3, 16);
  if (__syncthreads_or(value == in[0]))
    value += __shfl_sync(everyLane, value, value, 32) * 1000;
  out[t] = value;
}

void checkWidths(const int* in, const int* out, int count) {
  Row first, second;
  bool isAny = false;
  for (int t = 0; t < threads; ++t)
    first[threads - 1 - t] = downOf(in + t / 32 * 32, t % 32, count, 8);
  for (int t = 0; t < threads; ++t) {
    second[t] = downOf(first + t / 32 * 32, t % 32, 3, 16);
    isAny |= second[t] == in[0];
  }
  for (int t = 0; t < threads; ++t) {
    const int other = isAny ? second[t / 32 * 32 + second[t] % 32] * 1000 : 0;
    check(out[t] == second[t] + other, "parts of 8 and 16 lanes, with barriers between");
  }
}

/// One place in the output for each number that is kept, taken once for a warp.
__global__ void compact(const int* in, int* out, int* count) {
  const int t = threadIdx.x, lane = t % 32;
  const bool isKept = in[t] % 3 == 1;
  const unsigned kept = __ballot_sync(everyLane, isKept);
  int first = 0;
  if (lane == 0)
    first = atomicAdd(count, __popc(kept));
  first = __shfl_sync(everyLane, first, 0);
  if (isKept)
    out[first + __popc(kept & ((1u << lane) - 1))] = in[t];
}

int main() {
  Buffer<int> in(threads), out(threads), count(1);
  for (int t = 0; t < threads; ++t)
    in[t] = t * t * 7 % 101;
  in.upload();
  const auto run = [&](auto kernel, int number) {
    kernel<<<1, threads>>>(in.device(), out.device(), number);
    expectLaunched();
    out.download();
  };
  for (int number : {1, 5, 31}) {
    run(parts, number);
    checkParts(in.host(), out.host(), number);
  }
  for (int number : {threads, 64, 32}) {
    run(early, number);
    checkEarly(in.host(), out.host(), number);
  }
  for (int number : {0, 3}) {
    run(lengths, number);
    checkLengths(in.host(), out.host(), number);
    run(widths, number);
    checkWidths(in.host(), out.host(), number);
  }
  run(voting, 0);
  checkVoting(in.host(), out.host());

  Buffer<long long> whole(1);
  long long sum = 0;
  for (int t = 0; t < threads; ++t)
    sum += in[t] * 0x100000001ll;
  stages<<<1, threads>>>(in.device(), whole.device());
  expectLaunched();
  whole.download();
  check(whole[0] == sum, "a block's sum in two stages");

  count[0] = 0;
  count.upload();
  compact<<<1, threads>>>(in.device(), out.device(), count.device());
  expectLaunched();
  out.download(), count.download();
  int kept = 0, keptSum = 0;
  for (int t = 0; t < threads; ++t)
    if (in[t] % 3 == 1)
      ++kept, keptSum += in[t];
  for (int i = 0; i < count[0] && i < threads; ++i)
    keptSum -= out[i];
  check(count[0] == kept && keptSum == 0, "each kept number has a place of its own");
  return finish("lanes");
}
