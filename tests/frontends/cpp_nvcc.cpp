// CUDA that nvcc compiles while the program runs.
#include <cstddef>
#include <cstdio>

#include <proteus/CppJitModule.h>

using proteus::CppJitCompilerBackend;
using proteus::CppJitModule;

extern "C" {
int cudaMallocManaged(void** pointer, size_t bytes, unsigned flags);
int cudaDeviceSynchronize();
}

static const char* const kKernels = R"cpp(
extern "C" __global__ void scale(double* x, double by) { x[threadIdx.x] *= by; }
template <int N> __global__ void add(double* x) { x[threadIdx.x] += N; }
)cpp";

static const char* const kWhole = R"cpp(
__global__ void twice(double* x) { x[threadIdx.x] *= 2; }
extern "C" int run(double* x, int n) {
  twice<<<1, n>>>(x);
  return 7;
}
)cpp";

int main() {
  double* x = nullptr;
  cudaMallocManaged(reinterpret_cast<void**>(&x), sizeof(double) * 32, 1);
  for (int index = 0; index < 32; ++index)
    x[index] = index;
  CppJitModule module("cuda", kKernels, {}, CppJitCompilerBackend::Nvcc);
  const int scaled =
      module.getKernel<void(double*, double)>("scale").launch({1}, {32}, 0, nullptr, x, 3.0);
  const int added = module.instantiate("add", "4").launch({1}, {32}, 0, nullptr, x);
  CppJitModule whole("host_cuda", kWhole, {}, CppJitCompilerBackend::Nvcc);
  const int answer = whole.getFunction<int(double*, int)>("run").run(x, 32);
  cudaDeviceSynchronize();
  std::printf("%d %d %d %g %g\n", scaled, added, answer, x[0], x[31]);
}
