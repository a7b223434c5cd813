#include "device.h"

extern "C" __device__ int __ockl_wgred_add_i32(int);
extern "C" __device__ void __ockl_grid_sync();

extern "C" __global__ void reduction(const float* in, float* out) {
  __shared__ float sums[256];
  u32 t = threadX();
  sums[t] = in[blockX() * sizeX() + t];
  barrier();
  for (u32 step = sizeX() / 2; step > 0; step /= 2) {
    if (t < step)
      sums[t] += sums[t + step];
    barrier();
  }
  if (t == 0)
    out[blockX()] = sums[0];
}

// Dynamic shared memory behind static one.
extern "C" __global__ void dynamicShared(u32* out) {
  extern __shared__ u32 dynamic[];
  __shared__ u32 fixed[4];
  u32 t = threadX();
  dynamic[t] = t * 3;
  if (t < 4)
    fixed[t] = 100 + t;
  barrier();
  out[t] = dynamic[sizeX() - 1 - t] + fixed[t & 3];
}

__device__ inline u32 shuffle(u32 value, u32 from) {
  return u32(__builtin_amdgcn_ds_bpermute(int(from << 2), int(value)));
}

extern "C" __global__ void lanes(u64* out) {
  u32 t = threadX();
  u64* mine = out + 12 * t;
  mine[0] = lane();
  mine[1] = __builtin_amdgcn_wavefrontsize();
  mine[2] = shuffle(t * 10, (lane() + 5) & (__builtin_amdgcn_wavefrontsize() - 1));
  mine[3] = __builtin_amdgcn_ballot_w64(t % 3 == 0);
  mine[4] = u32(__builtin_amdgcn_readfirstlane(int(t + 7)));
  mine[5] = u32(__builtin_amdgcn_readlane(int(t), 9));
  mine[6] = u32(__builtin_amdgcn_ds_swizzle(int(t), 0x041f)); // exchanges neighbours
  mine[7] = u32(__builtin_amdgcn_update_dpp(-1, int(t), 0x111, 0xf, 0xf, false)); // row_shr:1
  mine[8] = u32(__builtin_amdgcn_update_dpp(0, int(t), 0x1b, 0xf, 0xf, true)); // quad_perm 3,2,1,0
  mine[9] = u32(__builtin_amdgcn_ds_permute(int((lane() ^ 1) << 2), int(t)));
  mine[10] = __builtin_amdgcn_mbcnt_lo(0x55555555u, 1000);
  mine[11] = u32(__builtin_amdgcn_update_dpp(77, int(t), 0x142, 0xa, 0xf, false)); // row_bcast:15
}

// Lanes leave the loop after different numbers of rounds and meet behind it.
extern "C" __global__ void divergent(const u32* rounds, u64* out) {
  u32 t = threadX();
  u64 together = 0;
  for (u32 round = 0; round < rounds[t]; ++round)
    together = together * 3 + u64(__builtin_popcountl(__builtin_amdgcn_ballot_w64(true)));
  out[3 * t] = together;
  if (t % 2)
    out[3 * t + 1] = __builtin_amdgcn_ballot_w64(true);
  else
    out[3 * t + 1] = __builtin_amdgcn_ballot_w64(true);
  out[3 * t + 2] = __builtin_amdgcn_ballot_w64(true);
}

extern "C" __global__ void atomics(u32* counts, float* sum, u32* oldest) {
  __shared__ u32 local;
  if (threadX() == 0)
    local = 0;
  barrier();
  __hip_atomic_fetch_add(&local, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  __hip_atomic_fetch_add(sum, 0.5f, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  u32 expected = 0;
  __hip_atomic_compare_exchange_strong(oldest, &expected, threadX() + 1, __ATOMIC_SEQ_CST,
                                       __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
  barrier();
  if (threadX() == 0)
    __hip_atomic_fetch_add(&counts[blockX() & 1], local, __ATOMIC_RELAXED,
                           __HIP_MEMORY_SCOPE_AGENT);
}

extern "C" __global__ void blockCount(int* out) {
  out[threadX()] = __ockl_wgred_add_i32(threadX() % 4 == 1);
}

extern "C" __global__ void gridWide(u32* cells, u32* out) {
  u32 blocks = u32(__builtin_amdgcn_grid_size_x() / sizeX());
  for (u32 round = 0; round < 5; ++round) {
    if (threadX() == 0)
      cells[blockX()] += cells[(blockX() + 1) % blocks + blocks];
    __ockl_grid_sync();
    if (threadX() == 0)
      cells[blockX() + blocks] = cells[blockX()];
    __ockl_grid_sync();
  }
  if (threadX() == 0)
    out[blockX()] = cells[blockX()];
}

// As cooperative groups within a wave synchronise.
extern "C" __global__ void tiles(u32* out) {
  __shared__ u32 cells[128];
  u32 t = threadX();
  cells[t] = t;
  for (u32 step = 1; step < 16; step *= 2) {
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "agent");
    u32 other = cells[t ^ step];
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "agent");
    cells[t] += other;
  }
  out[t] = cells[t];
}
