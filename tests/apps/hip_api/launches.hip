// Launches past the compiler's own: by a structure with attributes, by the handle of a function, and
// by pointers to HIP's functions. Prints the same text whether it is recorded or not.
#include <hip/hip_ext.h>
#include <hip/hip_runtime.h>

#include <dlfcn.h>

#include <cstdio>
#include <vector>

namespace {

constexpr int kCount = 512, kThreads = 128;
constexpr dim3 kGrid(kCount / kThreads), kBlock(kThreads);

int* data = nullptr;
int factor = 1;
int count = kCount;
void* arguments[] = {&data, &count, &factor};

void say(const char* what, hipError_t status) {
  std::vector<int> host(kCount);
  unsigned sum = 0;
  hipError_t copied = hipDeviceSynchronize();
  if (copied == hipSuccess)
    copied = hipMemcpy(host.data(), data, kCount * sizeof(int), hipMemcpyDeviceToHost);
  for (const int value : host)
    sum = sum * 31 + unsigned(value);
  std::printf("%s: %s, %u%s\n", what, hipGetErrorName(status), sum,
              copied == hipSuccess ? "" : ", not copied");
  static_cast<void>(hipGetLastError());
  ++factor;
}

/// Newer than the oldest headers, as are the structures below.
template <typename Function> Function hip(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

struct Attribute {
  int id, padding;
  int value[16];
};
struct Config {
  dim3 grid, block;
  size_t sharedBytes;
  hipStream_t stream;
  Attribute* attributes;
  unsigned attributeCount;
};

constexpr int kCooperative = 2, kPriority = 8;

} // namespace

__global__ void scale(int* values, int values_count, int by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < values_count)
    values[i] = values[i] * by + i;
}

int main() {
  hipStream_t stream{};
  if (hipMalloc(&data, kCount * sizeof(int)) != hipSuccess ||
      hipMemset(data, 0, kCount * sizeof(int)) != hipSuccess ||
      hipStreamCreate(&stream) != hipSuccess)
    return 1;
  const void* const kernel = reinterpret_cast<const void*>(&scale);
  hipFunction_t function{};
  const auto functionOf = hip<hipError_t (*)(hipFunction_t*, const void*)>("hipGetFuncBySymbol");
  say("handle", functionOf(&function, kernel));
  say("by its handle", hipModuleLaunchKernel(function, kGrid.x, 1, 1, kBlock.x, 1, 1, 0, stream,
                                             arguments, nullptr));

  Attribute attributes[2] = {{kPriority, 0, {0}}, {kCooperative, 0, {1}}};
  Config config{kGrid, kBlock, 0, stream, nullptr, 0};
  const auto withConfig =
      hip<hipError_t (*)(const Config*, const void*, void**)>("hipLaunchKernelExC");
  say("without attributes", withConfig(&config, kernel, arguments));
  config.attributes = attributes;
  config.attributeCount = 1;
  say("with a priority", withConfig(&config, kernel, arguments));
  config.attributeCount = 2;
  say("cooperatively", withConfig(&config, kernel, arguments));
  config.grid.x = 0;
  say("without blocks", withConfig(&config, kernel, arguments));
  config.grid = kGrid;
  say("without a structure", withConfig(nullptr, kernel, arguments));
  say("by the driver's function",
      hip<hipError_t (*)(const Config*, hipFunction_t, void**, void**)>("hipDrvLaunchKernelEx")(
          &config, function, arguments, nullptr));
  const auto plain =
      hip<hipError_t (*)(const void*, dim3, dim3, void**, size_t, hipStream_t)>("hipLaunchKernel");
  say("by a pointer", plain(kernel, kGrid, kBlock, arguments, 0, stream));
}
