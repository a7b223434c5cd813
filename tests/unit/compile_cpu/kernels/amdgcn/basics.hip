#include "device.h"

extern "C" __device__ u64 __ockl_get_local_size(u32);
extern "C" __device__ u64 __ockl_get_num_groups(u32);
extern "C" __device__ u64 __ockl_get_group_id(u32);
extern "C" __device__ u64 __ockl_get_local_id(u32);

extern "C" __global__ void vectorAdd(const float* a, const float* b, float* c, int count) {
  int index = int(blockX() * sizeX() + threadX());
  if (index < count)
    c[index] = a[index] + b[index];
}

// Every way to ask for a dimension gives the same answer.
extern "C" __global__ void dimensions(u32* out) {
  u32 rank = (threadZ() * sizeY() + threadY()) * sizeX() + threadX();
  u32 group = u32(__ockl_get_group_id(0)) +
              u32(__ockl_get_num_groups(0)) *
                  (__builtin_amdgcn_workgroup_id_y() +
                   u32(__ockl_get_num_groups(1)) * __builtin_amdgcn_workgroup_id_z());
  u32* mine = out + 8 * (group * sizeX() * sizeY() * sizeZ() + rank);
  const auto* packet = (const char*)__builtin_amdgcn_dispatch_ptr();
  const auto* hidden = (const char*)__builtin_amdgcn_implicitarg_ptr();
  mine[0] = group;
  mine[1] = rank;
  mine[2] = u32(__ockl_get_local_size(2));
  mine[3] = u32(__ockl_get_local_id(1));
  mine[4] = *(const unsigned short*)(packet + 6); // block size y
  mine[5] = *(const u32*)(packet + 12);           // grid size x, in threads
  mine[6] = *(const u32*)(hidden + 8);            // blocks along z
  mine[7] = __builtin_amdgcn_grid_size_z();
}

struct Settings {
  int scale;
  float factors[4];
  double last;
};

extern "C" __global__ void byValue(Settings settings, double* out) {
  u32 index = threadX();
  settings.factors[index & 1] += float(index);
  out[index] = settings.scale * settings.factors[index & 3] + settings.last;
}

__device__ int counter;
__constant__ float coefficients[4] = {1, 2, 3, 4};
__device__ int* place = &counter;

extern "C" __global__ void variables(float* out) {
  __atomic_fetch_add(&counter, 2, __ATOMIC_RELAXED);
  __hip_atomic_fetch_max(place + 0, 5, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  out[threadX()] = coefficients[threadX() & 3];
}

extern "C" __global__ void integers(const u32* a, const u32* b, u32* out) {
  u32 i = threadX();
  u32 x = a[i], y = b[i];
  u32* mine = out + 16 * i;
  mine[0] = __builtin_amdgcn_ubfe(x, y, y >> 8);
  mine[1] = u32(__builtin_amdgcn_sbfe(int(x), y, y >> 8));
  mine[2] = __builtin_amdgcn_alignbit(x, y, 13);
  mine[3] = __builtin_amdgcn_alignbyte(x, y, 3);
  mine[4] = __builtin_amdgcn_perm(x, y, 0x0d0c0805);
  mine[5] = __builtin_amdgcn_sad_u8(x, y, 7);
  mine[6] = __builtin_amdgcn_lerp(x, y, 0x01000100);
  mine[7] = __builtin_amdgcn_msad_u8(x, y, 1);
  mine[8] = __builtin_bit_cast(u32, __builtin_amdgcn_cvt_pk_u16(x, y));
  mine[9] = x << (y & 0xff);
  mine[10] = x / (y & 3);
  mine[11] = __builtin_amdgcn_sad_u16(x, y, 0);
}
