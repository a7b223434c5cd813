#include "device.h"

__device__ inline u64 here() { return __builtin_amdgcn_ballot_w64(true); }
__device__ inline u64 count() { return u64(__builtin_popcountl(here())); }

// A lane takes part in every other iteration.
extern "C" __global__ void alternating(u64* out, u32 n) {
  u32 t = threadX();
  u64 sum = 0;
  for (u32 i = 0; i < n; ++i)
    if ((t & 1) == (i & 1))
      sum = sum * 100 + count();
  out[t] = sum;
}

// Two loops of which lanes leave iterations early.
extern "C" __global__ void nested(u64* out, u32 n) {
  u32 t = threadX();
  u64 sum = 0;
  for (u32 i = 0; i < n; ++i) {
    if ((t + i) % 3 == 0)
      continue;
    for (u32 j = 0; j < (t & 3); ++j) {
      sum = sum * 31 + count();
      if (sum % 7 == t % 7)
        break;
    }
    sum = sum * 17 + count();
  }
  out[t] = sum;
}

typedef u64 (*Choice)(u32);
__device__ u64 everyLane(u32) { return here(); }
__device__ u64 noLane(u32) { return here() & 0x5555555555555555; }
__device__ Choice choices[2] = {everyLane, noLane};

// Lanes are in different functions, which share a helper.
extern "C" __global__ void byPointer(u64* out, u32 n) {
  u32 t = threadX();
  u64 both = 0;
  for (u32 i = 0; i < n; ++i)
    if ((t & 2) == (i & 2))
      both = both * 3 + choices[t & 1](t);
  out[t] = both;
}
