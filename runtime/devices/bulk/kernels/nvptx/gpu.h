// Room devices: what kernels need of the hardware, for NVPTX. Compiler builtins only. Kernels are
// started with one-dimensional blocks of whole warps.
#pragma once

#include <stdint.h>

#define GPU_KERNEL extern "C" __attribute__((nvptx_kernel)) void
/// Before functions that the compiler may leave as they are.
#define GPU_FUNCTION inline

namespace gpu {

constexpr uint32_t lanes = 32;
template <typename T> using Global = __attribute__((address_space(1))) T;

inline uint32_t lane() { return __nvvm_read_ptx_sreg_tid_x() % lanes; }
/// Warps of the whole grid, and this thread's among them.
inline uint64_t warp() {
  const uint64_t threads = __nvvm_read_ptx_sreg_ntid_x();
  return (__nvvm_read_ptx_sreg_ctaid_x() * threads + __nvvm_read_ptx_sreg_tid_x()) / lanes;
}
inline uint64_t warps() {
  const uint64_t threads = __nvvm_read_ptx_sreg_ntid_x();
  return __nvvm_read_ptx_sreg_nctaid_x() * threads / lanes;
}

inline uint32_t shuffleXor(uint32_t value, uint32_t mask) {
  return static_cast<uint32_t>(
      __nvvm_shfl_sync_bfly_i32(~0u, static_cast<int>(value), static_cast<int>(mask), 0x1f));
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
  asm volatile("ld.global.cs.v2.u64 {%0, %1}, [%2];" : "=l"(low), "=l"(high) : "l"(address));
}
inline bool any(bool value) { return __nvvm_vote_any_sync(~0u, value); }

} // namespace gpu
