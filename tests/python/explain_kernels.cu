// Kernels for mneme explain: what hangs on which argument is in plain sight.
#include <cuda_runtime.h>
#include <proteus/JitInterface.h>

struct Shape {
  float scale;
  int rounds;
};

namespace sums {
// A loop that hangs on `taps`, a table that is read alike by all threads, a branch on `mode`.
__global__ void stencil(const float* in, float* out, const float* weights, int taps, int mode) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = 0; i < taps; ++i)
    sum += weights[i] * in[at + i];
  if (mode == 2)
    sum = sqrtf(sum);
  out[at] = sum;
}
// Each thread has another count.
__global__ void rows(const int* begin, const float* in, float* out) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = begin[at]; i < begin[at + 1]; ++i)
    sum += in[i];
  out[at] = sum;
}
__attribute__((annotate("jit", 2))) __global__ void power(double* out, int exponent) {
  double result = 1;
  for (int i = 0; i < exponent; ++i)
    result *= out[threadIdx.x];
  out[threadIdx.x] = result;
}
// What all threads read alike is a part of the data.
__global__ void shift(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x] - in[0]; }
} // namespace sums
__global__ void object(Shape shape, float* out) {
  for (int i = 0; i < shape.rounds; ++i)
    out[threadIdx.x + i * blockDim.x] *= shape.scale;
}
template <typename T> __global__ void fill(T* out, T value) { out[threadIdx.x] = value; }

int main() {
  sums::stencil<<<1, 1>>>(nullptr, nullptr, nullptr, 0, 0);
  sums::rows<<<1, 1>>>(nullptr, nullptr, nullptr);
  sums::shift<<<1, 1>>>(nullptr, nullptr);
  sums::power<<<1, 1>>>(nullptr, 0);
  object<<<1, 1>>>({}, nullptr);
  fill<<<1, 1>>>((int*)nullptr, 1);
  fill<<<1, 1>>>((float*)nullptr, 1.f);
}
