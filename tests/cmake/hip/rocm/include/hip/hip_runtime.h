// Declarations clang needs to compile a launch; no runtime.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))

typedef __SIZE_TYPE__ size_t;
typedef int hipError_t;
typedef struct ihipStream_t* hipStream_t;
struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

extern "C" hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0,
                                                 hipStream_t stream = nullptr);
extern "C" hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, size_t* shared,
                                                hipStream_t* stream);
extern "C" hipError_t hipLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                      size_t shared, hipStream_t stream);
