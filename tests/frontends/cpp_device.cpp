// CUDA or HIP that is compiled while the program runs, in a program of any compiler.
#include <cstddef>
#include <cstdio>
#include <string>

#include <proteus/CppJitModule.h>
#include <proteus/Error.h>

using proteus::CppJitModule;
using proteus::JitFuncAttribute;

#ifdef TEST_HIP
#define VENDOR(name) hip##name
static const char* const kTarget = "hip";
static const char* const kBoth = "host_hip";
static const char* const kHeader = "#include <hip/hip_runtime.h>\n";
#else
#define VENDOR(name) cuda##name
static const char* const kTarget = "cuda";
static const char* const kBoth = "host_cuda";
static const char* const kHeader = "#include <cuda_runtime.h>\n";
#endif

extern "C" {
int VENDOR(MallocManaged)(void** pointer, size_t bytes, unsigned flags);
int VENDOR(DeviceSynchronize)();
}

static const char* const kKernels = R"cpp(
__device__ int launches = 0;
extern "C" __global__ void fill(double* x, double value, int n) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at == 0)
    ++launches;
  if (at < n)
    x[at] = sqrt(value) * at;
}
extern "C" __global__ void count(double* x) { x[0] = launches; }
extern "C" __global__ void big(double* x) {
  extern __shared__ double shared[];
  shared[threadIdx.x + 6200] = threadIdx.x;
  __syncthreads();
  x[threadIdx.x] = shared[6200 + blockDim.x - 1 - threadIdx.x];
}
template <int N, typename T> __global__ void add(T* x, T value, int n) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n)
    for (int i = 0; i < N; ++i)
      x[at] += value;
}
)cpp";

static const char* const kWhole = R"cpp(
__global__ void twice(double* x) { x[threadIdx.x] *= 2; }
extern "C" int run(double* x, int n) {
  twice<<<1, n>>>(x);
  return 7;
}
)cpp";

int main() {
  constexpr int kCount = 96;
  double* x = nullptr;
  VENDOR(MallocManaged)(reinterpret_cast<void**>(&x), sizeof(double) * kCount, 1);

  const std::string code = std::string(kHeader) + kKernels;
  CppJitModule module(kTarget, code);
  auto fill = module.getKernel<void(double*, double, int)>("fill");
  for (int round = 0; round < 3; ++round)
    if (const int status = fill.launch({2}, {64}, 0, nullptr, x, 4.0, kCount))
      std::printf("status %d\n", status);
  VENDOR(DeviceSynchronize)();
  std::printf("fill %g %g\n", x[1], x[kCount - 1]);
  module.getKernel<void(double*)>("count").launch({1}, {1}, 0, nullptr, x);
  VENDOR(DeviceSynchronize)();
  std::printf("count %g\n", x[0]);

  constexpr int kBytes = 64 * 1024;
  auto big = module.getKernel<void(double*)>("big");
  big.setFuncAttribute(JitFuncAttribute::MaxDynamicSharedMemorySize, kBytes);
  const int status = big.launch({1}, {32}, kBytes, nullptr, x);
  VENDOR(DeviceSynchronize)();
  std::printf("big %d %g %g\n", status, x[0], x[31]);

  auto& add = module.instantiate("add", "3", "double");
  const int added = add.launch({2}, {64}, 0, nullptr, x, 2, kCount); // an int for a double
  VENDOR(DeviceSynchronize)();
  std::printf("add %d %g %g\n", added, x[0], x[31]);

  CppJitModule whole(kBoth, std::string(kHeader) + kWhole);
  const int answer = whole.getFunction<int(double*, int)>("run").run(x, kCount);
  VENDOR(DeviceSynchronize)();
  std::printf("both %d %g\n", answer, x[0]);

  const auto refused = [](auto&& wrong) {
    try {
      wrong();
    } catch (const proteus::FatalError& error) {
      const std::string text = error.what();
      std::printf("%s\n", text.substr(text.find(" => ") + 4).c_str());
    }
  };
  refused([&] { module.getFunction<void()>("fill"); });
  refused([&] { big.setFuncAttribute(JitFuncAttribute::MaxDynamicSharedMemorySize, -1); });
}
