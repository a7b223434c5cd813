// What the kernels of this directory need of HIP's headers. Nothing but the compiler's builtins and
// declarations of the device libraries, so their IR holds our own code only.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define WORKGROUP_FENCE(order) __builtin_amdgcn_fence(order, "workgroup")

typedef unsigned long u64;
typedef unsigned u32;

__device__ inline u32 threadX() { return __builtin_amdgcn_workitem_id_x(); }
__device__ inline u32 threadY() { return __builtin_amdgcn_workitem_id_y(); }
__device__ inline u32 threadZ() { return __builtin_amdgcn_workitem_id_z(); }
__device__ inline u32 sizeX() { return __builtin_amdgcn_workgroup_size_x(); }
__device__ inline u32 sizeY() { return __builtin_amdgcn_workgroup_size_y(); }
__device__ inline u32 sizeZ() { return __builtin_amdgcn_workgroup_size_z(); }
__device__ inline u32 blockX() { return __builtin_amdgcn_workgroup_id_x(); }
__device__ inline u32 lane() {
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
}
__device__ inline void barrier() {
  WORKGROUP_FENCE(__ATOMIC_RELEASE);
  __builtin_amdgcn_s_barrier();
  WORKGROUP_FENCE(__ATOMIC_ACQUIRE);
}
