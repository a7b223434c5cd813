// Cooperative launches on several devices by one call of the driver, and of runtimes that have one
// (before CUDA 13): on as many as there are, up to two.
#include <cooperative_groups.h>
#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>

#include "common.h"

#pragma clang diagnostic ignored "-Wdeprecated-declarations" // what all of this is about

namespace {

constexpr int kCount = 512, kThreads = 128, kMost = 2;
constexpr dim3 kGrid(kCount / kThreads), kBlock(kThreads);

/// cudaLaunchParams, which CUDA 13 has no more.
struct RuntimeLaunch {
  const void* function;
  dim3 grid, block;
  void** args;
  size_t sharedBytes;
  cudaStream_t stream;
};
using LaunchTogether = cudaError_t (*)(RuntimeLaunch*, unsigned, unsigned);

int devices = 1;
int* data[kMost];
int factor[kMost];
int valueCount = kCount;
void* arguments[kMost][3];

} // namespace

__global__ void wholeGrid(int* values, int count, int by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int next = values[(i + kThreads) % count];
  cooperative_groups::this_grid().sync();
  values[i] = next * by + i;
}

namespace {

void report(const char* what, int status) {
  std::printf("%s: %d;", what, status);
  int current = -1;
  expect(cudaGetDevice(&current));
  for (int device = 0; device < devices; ++device) {
    expect(cudaSetDevice(device));
    expect(cudaDeviceSynchronize());
    std::printf(" %u", sumOf(download(data[device], kCount)));
    factor[device] += 2;
  }
  std::printf(", %s on %d\n", cudaGetErrorName(cudaGetLastError()), current);
  expect(cudaSetDevice(current));
}

void refuse(const CUDA_LAUNCH_PARAMS* all) {
  CUDA_LAUNCH_PARAMS list[kMost + 1];
  const auto launch = [&](const char* what, int count, unsigned flags = 0) {
    report(what, cuLaunchCooperativeKernelMultiDevice(list, count, flags));
    std::copy_n(all, kMost, list);
  };
  std::copy_n(all, kMost, list);
  report("no list", cuLaunchCooperativeKernelMultiDevice(nullptr, 1, 0));
  launch("none", 0);
  launch("too many", 1000);
  launch("unknown flags", 1, 4);
  list[0].hStream = nullptr;
  launch("without a stream", devices);
  list[0].blockDimX = 0;
  launch("without threads", devices);
  list[0].gridDimX = list[1].gridDimX = 1 << 20;
  launch("too large", devices);
  if (devices > 1) {
    list[1].hStream = nullptr;
    launch("the second without a stream", 2);
    list[1] = list[0];
    launch("two on one device", 2);
    list[1].gridDimX *= 2;
    launch("grids that differ", 2);
  }
}

} // namespace

int main() {
  expect(cudaGetDeviceCount(&devices));
  devices = std::min(devices, kMost);
  CUDA_LAUNCH_PARAMS byDriver[kMost]{};
  RuntimeLaunch byRuntime[kMost]{};
  for (int device = 0; device < devices; ++device) {
    cudaStream_t stream{};
    cudaFunction_t function{};
    expect(cudaSetDevice(device));
    expect(cudaMalloc(&data[device], kCount * sizeof(int)));
    expect(cudaMemset(data[device], device + 1, kCount * sizeof(int)));
    expect(cudaStreamCreate(&stream));
    expect(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(&wholeGrid)));
    factor[device] = 3 + device;
    void* values[] = {&data[device], &valueCount, &factor[device]};
    std::copy_n(values, 3, arguments[device]);
    byDriver[device] = {function, kGrid.x, 1, 1, kBlock.x, 1, 1, 0, stream, arguments[device]};
    byRuntime[device] = {
        reinterpret_cast<const void*>(&wholeGrid), kGrid, kBlock, arguments[device], 0, stream};
  }
  expect(cudaSetDevice(0));
  expect(cudaFree(nullptr));
  CUcontext before{}, after{};
  check(cuCtxGetCurrent(&before) == 0 && before, "a context");
  report("by the driver", cuLaunchCooperativeKernelMultiDevice(byDriver, devices, 0));
  report("without waiting", cuLaunchCooperativeKernelMultiDevice(byDriver, devices, 3));
  expect(cudaSetDevice(devices - 1));
  report("from the last device", cuLaunchCooperativeKernelMultiDevice(byDriver, 1, 0));
  expect(cudaSetDevice(0));
  if (const auto launch = reinterpret_cast<LaunchTogether>(
          dlsym(RTLD_DEFAULT, "cudaLaunchCooperativeKernelMultiDevice"))) {
    report("by the runtime", launch(byRuntime, devices, 0));
    report("no list of the runtime", launch(nullptr, 1, 0));
    byRuntime[0].function = nullptr;
    report("without a kernel", launch(byRuntime, devices, 0));
  }
  refuse(byDriver);
  check(cuCtxGetCurrent(&after) == 0 && after == before, "the context of before");
  return finish("several_devices");
}
