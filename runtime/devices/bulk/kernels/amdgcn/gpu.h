// Room devices: what kernels need of the hardware, for AMDGCN. Compiler builtins only. Kernels are
// started with one-dimensional blocks of 256 threads. The compiler of the bitcode sets this bound,
// because not every clang lets C++ code state it. A warp is 32 lanes as elsewhere: a wave, or one
// half of a wave of 64, so that the same code serves both.
#pragma once

#include <stdint.h>

#define GPU_KERNEL extern "C" __attribute__((amdgpu_kernel, visibility("protected"))) void
/// A kernel that calls is given 16 KiB of scratch memory for each thread.
#define GPU_FUNCTION inline __attribute__((always_inline))

namespace gpu {

constexpr uint32_t lanes = 32;
constexpr uint64_t blockThreads = 256;
template <typename T> using Global = __attribute__((address_space(1))) T;

inline uint32_t lane() { return __builtin_amdgcn_workitem_id_x() % lanes; }
/// Warps of the whole grid, and this thread's among them.
inline uint64_t warp() {
  return (__builtin_amdgcn_workgroup_id_x() * blockThreads + __builtin_amdgcn_workitem_id_x()) /
         lanes;
}
inline uint64_t warps() { return __builtin_amdgcn_grid_size_x() / lanes; }

/// This thread's number in its wave.
inline uint32_t laneOfWave() {
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
}

inline uint32_t shuffleXor(uint32_t value, uint32_t mask) {
  return static_cast<uint32_t>(__builtin_amdgcn_ds_bpermute(
      static_cast<int>((laneOfWave() ^ mask) * 4), static_cast<int>(value)));
}
inline uint64_t shuffleXor(uint64_t value, uint32_t mask) {
  const uint64_t low = shuffleXor(static_cast<uint32_t>(value), mask);
  return static_cast<uint64_t>(shuffleXor(static_cast<uint32_t>(value >> 32), mask)) << 32 | low;
}
inline double shuffleXor(double value, uint32_t mask) {
  return __builtin_bit_cast(double, shuffleXor(__builtin_bit_cast(uint64_t, value), mask));
}
/// Reads 16 aligned bytes of global memory that are not needed again soon, so that caches evict
/// them first.
inline void loadOnce(uint64_t address, uint64_t& low, uint64_t& high) {
  typedef uint64_t Two __attribute__((ext_vector_type(2)));
  const Two both = __builtin_nontemporal_load(reinterpret_cast<const Global<Two>*>(address));
  low = both.x;
  high = both.y;
}
/// Waves of 32 have bits of zero above theirs.
inline bool any(bool value) {
  const uint64_t votes = __builtin_amdgcn_ballot_w64(value);
  return static_cast<uint32_t>(votes >> (laneOfWave() & 32)) != 0;
}

} // namespace gpu
