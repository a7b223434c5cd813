// Helpers that several kernels call: between what is inlined for its size and what is inlined because
// nobody else calls it, and larger ones, with arguments that are the same constant everywhere or here.
#include <cuda_runtime.h>
#define STEP(i)                                                                                    \
  x = x * a[i] + a[i + 1] / x - a[i + 2] * a[i + 3];                                               \
  if (x > a[i + 4])                                                                                \
    x += a[i + 5] * a[i + 6];
#define STEPS(i) STEP(i) STEP(i + 1) STEP(i + 2) STEP(i + 3)
#define MANY(i) STEPS(i) STEPS(i + 4) STEPS(i + 8) STEPS(i + 12)
static __device__ float middle(const float* a, float x, float w) {
  MANY(0) MANY(16) MANY(32) MANY(48)
  return x * w;
}
namespace {
__device__ float large(const float* a, float x, float w, int n) {
  for (int i = 0; i < n; ++i)
    x += x * a[i];
  MANY(0) MANY(16) MANY(32) MANY(48)
  x = sinf(x) * powf(x, w) + tanf(x) * powf(w, x);
  MANY(1) MANY(17) MANY(33) MANY(49)
  x = sinf(x) * powf(x, w) + tanf(x) * powf(w, x);
  MANY(2) MANY(18) MANY(34) MANY(50)
  return x * w;
}
} // namespace
__global__ void one(float* y, const float* x) {
  y[threadIdx.x] = middle(x, y[threadIdx.x], x[2]) + x[9];
}
__global__ void two(float* y, const float* x) {
  y[threadIdx.x] = middle(x + 1, y[threadIdx.x], x[7]) + x[3];
}
__global__ void three(float* y, const float* x) {
  y[threadIdx.x] = large(x + 2, y[threadIdx.x], 3.f, 4) + x[3];
}
__global__ void four(float* y, const float* x) {
  y[threadIdx.x] = large(x, y[threadIdx.x], 2.f, 4) - x[3];
}
