#include <cmath>
#include <cuda_runtime.h>
__device__ int index() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ float strictMad(float a, float b, float c) {
#pragma clang fp contract(off)
  return a * b + c;
}
__device__ float onMad(float a, float b, float c) {
#pragma clang fp contract(on)
  float t = a * b;
  return t + c * a + b;
}
__device__ float fastMad(float a, float b, float c) {
#pragma clang fp contract(fast)
  float t = a * b;
  return t + c * a + b;
}
__device__ float reassoc(float a, float b, float c) {
#pragma clang fp reassociate(on)
  return (a + b) + (c - a) * 2.f;
}
__device__ float recip(float a, float b) {
#pragma clang fp reciprocal(on)
  return a / b;
}
__global__ void contractOff(float* y, const float* x, float a, int n) {
  if (int i = index(); i < n)
    y[i] = strictMad(a, x[i], y[i]);
}
__global__ void contractOn(float* y, const float* x, float a, int n) {
  if (int i = index(); i < n)
    y[i] = onMad(a, x[i], y[i]);
}
__global__ void contractFast(float* y, const float* x, float a, int n) {
  if (int i = index(); i < n)
    y[i] = fastMad(a, x[i], y[i]);
}
__global__ void contractMixed(float* y, const float* x, float a, int n) {
  if (int i = index(); i < n)
    y[i] = strictMad(a, x[i], y[i]) + x[i] * a;
}
__global__ void contractMixed2(float* y, const float* x, float a, int n) {
  if (int i = index(); i < n)
    y[i] = onMad(a, x[i], y[i]) + strictMad(x[i], a, 2.f) * x[i];
}
__global__ void twoSum(float* y, const float* x, int n) {
#pragma clang fp contract(off)
  float s = 0, c = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float p = x[i] * x[i];
    float t = p - c;
    float u = s + t;
    c = (u - s) - t;
    s = u;
  }
  y[threadIdx.x] = s;
}
__global__ void twoProd(double* y, const double* x, int n) {
#pragma clang fp contract(off)
  if (int i = index(); i < n) {
    double p = x[i] * y[i];
    double e = fma(x[i], y[i], -p);
    y[i] = p + e * x[0];
  }
}
__global__ void reassociated(float* y, const float* x, int n) {
  if (int i = index(); i < n)
    y[i] = reassoc(x[i], y[i], x[0]) + recip(x[1], x[i]);
}
#pragma clang optimize off
__global__ void unoptimized(float* y, const float* x, int n) {
  if (int i = index(); i < n) {
    float t = x[i] * y[i];
    y[i] = t + x[i] / y[i];
  }
}
#pragma clang optimize on
__device__ __attribute__((optnone)) float optnoneHelper(float a, float b) {
  float t = a * b;
  return t + b;
}
__global__ void callsOptnone(float* y, const float* x, int n) {
  if (int i = index(); i < n)
    y[i] = optnoneHelper(x[i], y[i]) * x[i] + 1.f;
}
__device__ __attribute__((noinline)) float noinlineHelper(float a, float b) {
  float t = a * b;
  return t + b;
}
__device__ __attribute__((always_inline)) float inlineHelper(float a, float b) {
  float t = a / b;
  return t * a + b;
}
__device__ __attribute__((flatten)) float flattened(float a, float b) {
  return noinlineHelper(a, b) * inlineHelper(b, a);
}
__global__ void callsVarious(float* y, const float* x, int n) {
  if (int i = index(); i < n)
    y[i] = noinlineHelper(x[i], y[i]) * x[i] + inlineHelper(x[i], 3.f) + flattened(x[i], y[i]);
}
__device__ __attribute__((pure)) float pureFn(const float* x, int i) {
  return x[i] * x[i + 1] + sqrtf(x[i]);
}
__global__ void callsPure(float* y, const float* x, int n) {
  if (int i = index(); i < n)
    y[i] = pureFn(x, i) + pureFn(x, i);
}
__attribute__((minsize)) __global__ void small(float* y, const float* x, int n) {
  float s = 0;
  for (int i = 0; i < n; ++i)
    s += x[i] * x[i] / (1.f + x[i]);
  y[index()] = s;
}
__global__ void __launch_bounds__(1024, 2) bounded(float* y, const float* x, int n) {
  float s[16];
  for (int i = 0; i < 16; ++i)
    s[i] = x[index() + i];
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < 16; ++i)
      s[i] = s[i] * s[(i + 1) & 15] + x[j];
  float t = 0;
  for (int i = 0; i < 16; ++i)
    t += s[i];
  y[index()] = t;
}
__attribute__((target("sm_90"))) __device__ float dummyTarget(float a) { return a * a + 1.f; }
__global__ void targeted(float* y, int n) { y[index()] = dummyTarget(y[index()]); }
