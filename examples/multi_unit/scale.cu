// The second translation unit of the program.
#include "scale.h"

namespace {
// The same kernel name as in main.cu and ramp.cu, each in its own anonymous namespace.
__global__ void apply(float* values, int n, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    values[i] *= factor;
}
} // namespace

void scaleOnDevice(float* values, int n, float factor) {
  apply<<<(n + 127) / 128, 128>>>(values, n, factor);
}
