// Kernel forms: templates, lambdas, structs by value, names with internal linkage, launch bounds.
#include <utility>

#include "check.h"

template <typename T, int Factor> __global__ void scale(T* data, int count, T offset) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    data[i] = data[i] * Factor + offset;
}

template <typename Function> __global__ void apply(int* data, int count, Function function) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    data[i] = function(i);
}

struct Parameters {
  double weights[10];
  char tag;
  short pair[2];
  float* output;
};

namespace {
__global__ void hidden(Parameters parameters, const Parameters* same) {
  double sum = 0;
  for (const double weight : parameters.weights)
    sum += weight;
  parameters.weights[0] = -1; // a private copy
  parameters.output[0] = static_cast<float>(sum);
  parameters.output[1] = parameters.tag + parameters.pair[1];
  parameters.output[2] = static_cast<float>(same->weights[9]);
}
} // namespace

static __global__ void alsoHidden(float* output) { output[3] = 33; }
extern "C" __global__ void plainName(float* output) { output[4] = 44; }
__global__ void __launch_bounds__(128, 2) bounded(float* output) {
  if (threadIdx.x == 127)
    output[5] = 55;
}
__global__ void small(bool yes, unsigned char byte, short word, long long wide, float* output) {
  output[6] = yes ? byte + word + static_cast<float>(wide) : 0;
}
struct Empty {};
__global__ void withEmpty(Empty, int value, float* output) { output[7] = value; }

int main() {
  constexpr int count = 500;
  Buffer<int> integers(count);
  Buffer<double> doubles(count);
  for (int i = 0; i < count; ++i)
    integers[i] = i, doubles[i] = i * 0.5;
  integers.upload(), doubles.upload();
  scale<int, 3><<<4, 64>>>(integers.device(), count, 7);
  scale<double, -2><<<2, 32>>>(doubles.device(), count, 0.25);
  expectLaunched();
  integers.download(), doubles.download();
  for (int i = 0; i < count; ++i)
    check(integers[i] == 3 * i + 7 && doubles[i] == 0.25 - i, "template kernels");
  const int captured = 5;
  apply<<<8, 64>>>(integers.device(), count, [=] __device__(int i) { return i * captured; });
  expectLaunched();
  integers.download();
  for (int i = 0; i < count; ++i)
    check(integers[i] == 5 * i, "lambda");

  Buffer<float> output(8);
  Buffer<Parameters> same(1);
  Parameters parameters{};
  for (int i = 0; i < 10; ++i)
    parameters.weights[i] = i;
  parameters.tag = 3;
  parameters.pair[1] = 400;
  parameters.output = output.device();
  same[0] = parameters;
  same.upload();
  hidden<<<1, 1>>>(parameters, same.device());
  alsoHidden<<<1, 1>>>(output.device());
  plainName<<<1, 1>>>(output.device());
  bounded<<<1, 128>>>(output.device());
  small<<<1, 1>>>(true, 200, -100, 1ll << 33, output.device());
  withEmpty<<<1, 1>>>({}, 77, output.device());
  expectLaunched();
  output.download();
  check(output[0] == 45 && output[1] == 403 && output[2] == 9, "struct by value");
  check(output[3] == 33 && output[4] == 44 && output[5] == 55, "internal and C names");
  check(output[6] == 8589934692.0f && output[7] == 77, "small arguments");
  return finish("kernels");
}
