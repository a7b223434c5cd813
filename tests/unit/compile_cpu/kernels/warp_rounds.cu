// Kernels whose lanes meet, for warp_rounds_test.cpp: shuffles and votes in every form, lanes that
// go different ways or end.
// All of them are kernel(const int* in, int* out, int number) with an element for each thread.
#define global __attribute__((global)) void
#define device __attribute__((device)) inline
#define shared __attribute__((shared))
#define KERNEL extern "C" global

constexpr unsigned kAll = ~0u;

device int tid() {
  return __nvvm_read_ptx_sreg_tid_x() +
         __nvvm_read_ptx_sreg_ntid_x() *
             (__nvvm_read_ptx_sreg_tid_y() +
              __nvvm_read_ptx_sreg_ntid_y() * __nvvm_read_ptx_sreg_tid_z());
}
device int threads() {
  return __nvvm_read_ptx_sreg_ntid_x() * __nvvm_read_ptx_sreg_ntid_y() *
         __nvvm_read_ptx_sreg_ntid_z();
}
device int at() { return tid() + threads() * __nvvm_read_ptx_sreg_ctaid_x(); }
device int lane() { return tid() % 32; }
device int warp() { return tid() / 32; }
device int down(unsigned mask, int value, int by, int width = 32) {
  return __nvvm_shfl_sync_down_i32(mask, value, by, (32 - width) << 8 | 31);
}
device int up(unsigned mask, int value, int by, int width = 32) {
  return __nvvm_shfl_sync_up_i32(mask, value, by, (32 - width) << 8);
}
device int across(unsigned mask, int value, int by, int width = 32) {
  return __nvvm_shfl_sync_bfly_i32(mask, value, by, (32 - width) << 8 | 31);
}
device int from(unsigned mask, int value, int source, int width = 32) {
  return __nvvm_shfl_sync_idx_i32(mask, value, source, (32 - width) << 8 | 31);
}
device unsigned ballot(unsigned mask, bool vote) { return __nvvm_vote_ballot_sync(mask, vote); }
device unsigned active() { return __nvvm_activemask(); }
device int lowest(unsigned mask) { return __builtin_ctz(mask); }
device int warpSum(int value) {
  for (int by = 16; by > 0; by /= 2)
    value += down(kAll, value, by);
  return value;
}

KERNEL sumOfWarp(const int* in, int* out, int number) { out[at()] = warpSum(in[at()]) + number; }

KERNEL sumOfBlock(const int* in, int* out, int number) {
  shared static int parts[32];
  int sum = 0;
  for (int i = tid(); i < number; i += threads())
    sum += in[i];
  sum = warpSum(sum);
  if (lane() == 0)
    parts[warp()] = sum;
  __nvvm_bar_sync(0);
  if (warp() == 0) {
    sum = lane() < (threads() + 31) / 32 ? parts[lane()] : 0;
    sum = warpSum(sum);
  }
  out[at()] = sum;
}

KERNEL scan(const int* in, int* out, int number) {
  int sum = in[at()];
#pragma clang loop unroll(disable)
  for (int by = 1; by < 32; by *= 2) {
    const int other = up(kAll, sum, by);
    if (lane() >= by)
      sum += other;
  }
  out[at()] = sum * number;
}

/// Some lanes only; their mask is none that the compiler knows.
KERNEL part(const int* in, int* out, int number) {
  int value = in[at()];
  const unsigned mask = (1u << number % 32) - 1;
  if (lane() < number % 32) {
    value += 100 * down(mask, value, 1);
    value += ballot(mask, value & 1);
  }
  out[at()] = value;
}

/// Both sides of a branch, at places of their own.
KERNEL sides(const int* in, int* out, int number) {
  int value = in[at()];
  if (lane() < 16)
    value = across(0xffffu, value, 3) * 3 + number;
  else
    value = down(0xffff0000u, value, 5) * 5;
  if (lane() % 2) // the same operation under the same mask meets across places
    value += from(kAll, value, number);
  else
    value -= from(kAll, value * 7, number);
  out[at()] = value;
}

/// Lanes that end before others meet, and behind it.
KERNEL ended(const int* in, int* out, int number) {
  int value = in[at()];
  if (tid() % 7 == number)
    return;
  value += down(kAll, value, 2);
  out[at()] = value;
  if (value % 5 == 0)
    return;
  value += ballot(kAll, value % 3 == 0);
  out[at()] = value;
  if (lane() > 20)
    return;
  __nvvm_bar_sync(0);
  out[at()] = value + from(kAll, value, 1);
}

KERNEL early(const int* in, int* out, int number) {
  if (at() >= number)
    return;
  out[at()] = warpSum(in[at()]);
}

/// Each warp goes round a different number of times.
KERNEL unevenWarps(const int* in, int* out, int number) {
  int value = in[at()];
  for (int i = 0; i < warp() * 3 + number % 5; ++i)
    value = value * 3 + across(kAll, value, i % 32);
  __nvvm_bar_sync(0);
  out[at()] = warpSum(value);
}

/// Each lane does; they vote on going on.
KERNEL unevenLanes(const int* in, int* out, int number) {
  int value = in[at()], rounds = (in[at()] + number) % 9;
  while (ballot(kAll, rounds > 0)) {
    if (rounds > 0)
      value = value * 5 + rounds--;
    value += up(kAll, value, 1);
  }
  out[at()] = value;
}

/// Lanes leave a loop one after the other, and are not waited for.
KERNEL leaving(const int* in, int* out, int number) {
  int value = in[at()] & 15, seen = 0;
  unsigned mask = kAll >> (threads() - warp() * 32 < 32 ? 32 - (threads() - warp() * 32) : 0);
  for (int i = 0; i < 40; ++i) {
    seen += __builtin_popcount(ballot(mask, value & 1)) * (i + 1);
    const unsigned staying = ballot(mask, value > i);
    if (value <= i)
      break;
    mask = staying;
    value += from(mask, value, lowest(mask)) & 1;
    if (i == number)
      break;
  }
  out[at()] = seen * 64 + value;
}

/// Groups of lanes with the same number, one after the other.
KERNEL groups(const int* in, int* out, int number) {
  const int value = in[at()] % 6;
  int order = 0, count = 0;
  bool isLeft = true;
  for (unsigned rest = ballot(kAll, true); rest != 0; ++order) {
    const int chosen = from(kAll, value, lowest(rest));
    const unsigned same = ballot(kAll, isLeft && value == chosen);
    if (value == chosen) {
      count = __builtin_popcount(same) + order * number;
      isLeft = false;
    }
    rest &= ~same;
  }
  out[at()] = count;
}

/// Values of 64 bits and parts of a warp.
KERNEL widths(const int* in, int* out, int number) {
  const int value = in[at()];
  long long wide = (long long)value * 0x100000003ll + number;
  const int low = across(kAll, (int)wide, 9), high = across(kAll, (int)(wide >> 32), 9);
  int sum = low ^ high * 3;
  sum = sum * 7 + from(kAll, value, tid() + 1, 8);
  sum = sum * 7 + up(kAll, value, 1, 4);
  sum = sum * 7 + down(kAll, value, 2, 16);
  sum = sum * 7 + across(kAll, value, 1, 2);
  sum = sum * 7 + up(kAll, value, number, 16);
  sum = sum * 7 + down(kAll, value, lane() % 5, 8);
  sum = sum * 7 + from(kAll, value, value, 32);
  out[at()] = sum;
}

/// Tiles of eight lanes, each under its own mask.
KERNEL tiles(const int* in, int* out, int number) {
  int value = in[at()];
  const unsigned mask = 0xffu << (lane() & 24);
  for (int by = 4; by > 0; by /= 2)
    value += across(mask, value, by, 8);
  if (lane() / 8 == number % 4)
    value = value * 3 + from(mask, value, 2, 8);
  __nvvm_bar_warp_sync(mask);
  out[at()] = value;
}

/// Barriers of the block between, some that count.
KERNEL barriers(const int* in, int* out, int number) {
  shared static int values[1024];
  int value = in[at()];
  value += down(kAll, value, 1);
  values[tid()] = value;
  __nvvm_bar_sync(0);
  value = values[(tid() + 33) % threads()];
  value += across(kAll, value, 4);
  value += 100 * __nvvm_bar0_popc(value % 3 == 0);
  value += from(kAll, value, number);
  if (__nvvm_bar0_or(value == number))
    value += ballot(kAll, value & 4);
  __nvvm_bar_sync(0);
  values[tid()] = value;
  __nvvm_bar_sync(0);
  out[at()] = values[threads() - 1 - tid()];
}

/// Warps wait for the block at different places.
KERNEL apart(const int* in, int* out, int number) {
  int value = in[at()];
  if (warp() % 2 == 0) {
    value = warpSum(value);
    __nvvm_bar_sync(0);
  } else {
    value ^= across(kAll, value, 1);
    __nvvm_bar_sync(0);
    value += number;
  }
  out[at()] = value + __nvvm_bar0_popc(value & 1);
}

/// One of the lanes that took a branch adds for all.
KERNEL aggregated(const int* in, int* out, int number) {
  int value = in[at()];
  if (value % 3 != number % 3) {
    const unsigned mask = active();
    value = from(mask, value, lowest(mask)) * 100 + __builtin_popcount(mask & ((1u << lane()) - 1));
  }
  if (value % 2)
    value += __builtin_popcount(active());
  out[at()] = value;
}

/// A mask of lanes that were together; not all of them come.
KERNEL promised(const int* in, int* out, int number) {
  int value = in[at()];
  const unsigned mask = active();
  if (value % 4 == number % 4)
    value = value * 8 + __builtin_popcount(ballot(mask, true));
  value += 1000 * __nvvm_bar0_popc(value & 1);
  out[at()] = value;
}

KERNEL matches(const int* in, int* out, int number) {
  const int value = in[at()] % 4;
  int sum = __nvvm_match_any_sync_i32(kAll, value);
  sum = sum * 31 + __nvvm_match_any_sync_i64(kAll, (long long)value << 40);
  int isEqual = 0;
  sum = sum * 31 + __nvvm_match_all_sync_i32p(kAll, warp() % 2 ? number : value, &isEqual);
  sum = sum * 31 + isEqual;
  sum = sum * 31 + __nvvm_match_all_sync_i64p(kAll, 1ll << (32 + number % 8), &isEqual);
  sum = sum * 31 + isEqual;
  sum = sum * 31 + __nvvm_vote_any_sync(kAll, value == 3) * 4 +
        __nvvm_vote_all_sync(kAll, value < 3) * 2 + __nvvm_vote_uni_sync(kAll, value == number);
  out[at()] = sum;
}

KERNEL reductions(const int* in, int* out, int number) {
  const int value = in[at()] * 77 - number;
  int sum = __nvvm_redux_sync_add(value, kAll);
  sum = sum * 31 + __nvvm_redux_sync_min(value, kAll);
  sum = sum * 31 + __nvvm_redux_sync_max(value, kAll);
  sum = sum * 31 + __nvvm_redux_sync_umin(value, kAll);
  sum = sum * 31 + __nvvm_redux_sync_umax(value, kAll);
  sum = sum * 31 + __nvvm_redux_sync_and(value, kAll);
  sum = sum * 31 + __nvvm_redux_sync_or(value, kAll);
  sum = sum * 31 + __nvvm_redux_sync_xor(value, kAll);
  out[at()] = sum;
}

/// What a lane has of its own outlives meetings.
KERNEL locals(const int* in, int* out, int number) {
  int own[8];
  for (int i = 0; i < 8; ++i)
    own[i] = in[at()] * (i + 1);
  for (int i = 0; i < 5; ++i) {
    const int other = from(kAll, own[(i + tid()) % 8], (lane() + i) % 32);
    own[(other & 0xff) % 8] += other;
  }
  out[at()] = own[number % 8] + own[(lane() + 3) % 8];
}

/// Masks that a vote gave.
KERNEL voted(const int* in, int* out, int number) {
  int value = in[at()];
  const bool isIn = value % 3 == number % 3;
  const unsigned mask = ballot(kAll, isIn);
  if (isIn) {
    value += from(mask, value, lowest(mask));
    value += __nvvm_redux_sync_add(value, mask);
  }
  __nvvm_bar_warp_sync(kAll);
  out[at()] = value + across(kAll, value, 16);
}

/// A tail of a reduction that counts on lanes going in step.
KERNEL inStep(const int* in, int* out, int number) {
  shared static volatile int values[1024 + 32];
  values[tid()] = in[at()] + number;
  __nvvm_bar_sync(0);
  if (tid() < 32) {
    values[tid()] += values[tid() + 16];
    values[tid()] += values[tid() + 8];
    values[tid()] += values[tid() + 4];
    values[tid()] += down(kAll, values[tid()], 2);
  }
  __nvvm_bar_sync(0);
  out[at()] = values[tid()];
}

/// More places than have loops of their own.
KERNEL many(const int* in, int* out, int number) {
  int value = in[at()];
#pragma clang loop unroll(full)
  for (int i = 0; i < 80; ++i)
    value = value * 3 + from(kAll, value, i * number % 32);
  out[at()] = value;
}

/// Not inlined, and as deep as the thread's number tells.
__attribute__((__device__, noinline)) int depth(int left) {
  return left <= 0 ? tid() : depth(left - 1) * 3 + lane();
}

KERNEL recursive(const int* in, int* out, int number) {
  int value = depth(in[at()] % 5 + number);
  value += across(kAll, value, 1);
  if (value % 2)
    value = depth(value % 3);
  out[at()] = warpSum(value) + depth(1);
}

// These never end as they should.

KERNEL wrongMask(const int* in, int* out, int number) {
  if (at() == number)
    out[at()] = down(~(1u << lane()), in[at()], 1);
}

KERNEL wrongMaskOfAll(const int* in, int* out, int number) {
  out[at()] = down(0xfffffff7u, in[at()], 1) + number;
}

KERNEL deadlock(const int* in, int* out, int number) {
  int value = in[at()];
  if (tid() == number)
    __nvvm_bar_sync(0);
  else
    value = down(kAll, value, 1);
  out[at()] = value;
}

KERNEL differentMasks(const int* in, int* out, int number) {
  out[at()] = ballot(tid() == number ? 0xffffu : kAll, in[at()] & 1);
}
