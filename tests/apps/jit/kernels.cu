#include <cstdio>
#include <cuda_runtime.h>
#include <proteus/JitInterface.h>
__device__ int counter;
__attribute__((annotate("jit", 1, 2))) __global__ void daxpy(double a, int n, const double* x, double* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += a * x[i];
}
__global__ void arr(int* w, int n, int* out) {
  proteus::jit_array(w, n);
  int s = 0; for (int i = 0; i < n; ++i) s += w[i] * (threadIdx.x + 1);
  out[threadIdx.x] = s;
}
struct S { int a; float b; double c; };
__global__ void obj(S s, double* out) { proteus::jit_object(s); out[threadIdx.x] = s.a + s.b * s.c + threadIdx.x; s.a = 3; atomicAdd(&counter, s.a); }
__global__ void objp(S* s, double* out) { proteus::jit_object(s); out[threadIdx.x] = s->a - s->b * s->c + threadIdx.x; }
__global__ void plain(int* p) { *p += 1; }
int main() {
  double *x, *y; cudaMallocManaged(&x, 800); cudaMallocManaged(&y, 800);
  for (int i = 0; i < 100; ++i) x[i] = i, y[i] = 1;
  for (int k = 0; k < 3; ++k) { daxpy<<<2, 32>>>(6.2, 100, x, y); cudaDeviceSynchronize(); }
  daxpy<<<2, 32>>>(1.0, 100, x, y); cudaDeviceSynchronize();
  printf("y %g %g\n", y[1], y[99]);
  int *w, *o; cudaMallocManaged(&w, 40); cudaMallocManaged(&o, 40*4);
  for (int i = 0; i < 3; ++i) w[i] = i + 3;
  arr<<<1, 8>>>(w, 3, o); cudaDeviceSynchronize(); printf("o %d\n", o[7]);
  w[0] = 0; arr<<<1, 8>>>(w, 3, o); cudaDeviceSynchronize(); printf("o %d\n", o[7]);
  obj<<<1, 4>>>(S{1, 2.5f, 4.0}, y); cudaDeviceSynchronize(); printf("obj %g\n", y[3]);
  S* s; cudaMallocManaged(&s, sizeof(S)); *s = S{5, 1.5f, 2};
  objp<<<1, 4>>>(s, y); cudaDeviceSynchronize(); printf("objp %g\n", y[3]);
  plain<<<1,1>>>(o); cudaDeviceSynchronize();
  int c; cudaMemcpyFromSymbol(&c, counter, 4); printf("counter %d %d\n", c, (int)cudaGetLastError());
}
