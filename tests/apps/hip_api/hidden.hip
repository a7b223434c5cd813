// Device variables that no host code names: static ones of a unit (two units have one of the same
// name), of a function, of an unnamed namespace; and one that a kernel reaches by a pointer alone,
// which another kernel has put into memory.
#include <hip/hip_runtime.h>

#include <cstdio>

#ifndef UNIT
#define UNIT first
#endif
#define JOINED(name, unit) name##_##unit
#define OF_UNIT(name, unit) JOINED(name, unit)
#define KERNEL(name) OF_UNIT(name, UNIT)

static __device__ int seen = 3;
static __device__ int beyond[4] = {1, 2, 3, 4};
namespace {
__device__ long sums[2];
} // namespace

__global__ void KERNEL(count)(int* out, int round) {
  static __device__ int calls;
  const int i = threadIdx.x;
  if (i == 0) {
    ++calls;
    seen += 10 * calls;
    sums[1] += seen;
  }
  __syncthreads();
  out[i] += seen + calls + int(sums[1]) + round;
}

__global__ void KERNEL(leave)(int** where) { *where = beyond; }

__global__ void KERNEL(follow)(int* const* where, int by) {
  int* found = *where;
  found[threadIdx.x] += by * (found[(threadIdx.x + 1) & 3] & 1);
}

__global__ void KERNEL(show)(int* out) { out[threadIdx.x] = beyond[threadIdx.x & 3]; }

void second(int* out);

void UNIT(int* out) {
  int** where = nullptr;
  int host[64];
  if (hipMalloc(&where, sizeof(int*)) != hipSuccess)
    return;
  for (int i = 0; i < 2; ++i) {
    KERNEL(count)<<<1, 64>>>(out, i);
    KERNEL(leave)<<<1, 1>>>(where);
    KERNEL(follow)<<<1, 4>>>(where, 5 + i);
  }
  if (hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost) == hipSuccess)
    std::printf("%d", host[63]);
  KERNEL(show)<<<1, 64>>>(out);
  if (hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost) == hipSuccess)
    std::printf(" %d %d\n", host[0], host[3]);
}

#ifndef OTHER
int main() {
  int* out = nullptr;
  if (hipMalloc(&out, 64 * sizeof(int)) != hipSuccess ||
      hipMemset(out, 0, 64 * sizeof(int)) != hipSuccess)
    return 1;
  first(out);
  second(out);
}
#endif
