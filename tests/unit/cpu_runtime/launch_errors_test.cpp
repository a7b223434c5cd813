#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include "runtime/emulator/runtimes/core/types.h"

using mneme::cpu_runtime::DeviceLaunch;

/// Declared by CUDA 12 only.
extern "C" cudaError_t cudaLaunchCooperativeKernelMultiDevice(const DeviceLaunch* launches,
                                                              unsigned count, unsigned flags);

namespace {

void notAKernel() {}

} // namespace

TEST_CASE("what nobody registered is neither a kernel nor a symbol") {
  static int variable = 0;
  void* address = nullptr;
  cudaFuncAttributes attributes{};
  const void* function = reinterpret_cast<const void*>(&notAKernel);
  CHECK(cudaLaunchKernel(function, dim3{1, 1, 1}, dim3{1, 1, 1}, nullptr, 0, nullptr) ==
        cudaErrorInvalidDeviceFunction);
  CHECK(cudaPeekAtLastError() == cudaErrorInvalidDeviceFunction);
  CHECK(cudaFuncGetAttributes(&attributes, function) == cudaErrorInvalidDeviceFunction);
  CHECK(cudaGetSymbolAddress(&address, &variable) == cudaErrorInvalidSymbol);
  CHECK(cudaMemcpyToSymbol(&variable, &variable, 4, 0, cudaMemcpyHostToDevice) ==
        cudaErrorInvalidSymbol);
  CHECK(cudaGetLastError() == cudaErrorInvalidSymbol);
}

/// As two H100s under driver 580 say (cuLaunchCooperativeKernelMultiDevice).
TEST_CASE("launches on several devices are refused as the vendor does") {
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  const DeviceLaunch good{
      reinterpret_cast<const void*>(&notAKernel), {1, 1, 1}, {32, 1, 1}, nullptr, 0, stream};
  const auto launch = [](const DeviceLaunch& one, unsigned count = 1, unsigned flags = 0) {
    const DeviceLaunch both[] = {one, one};
    return cudaLaunchCooperativeKernelMultiDevice(both, count, flags);
  };
  CHECK(cudaLaunchCooperativeKernelMultiDevice(nullptr, 1, 0) == cudaErrorInvalidValue);
  CHECK(launch(good, 0) == cudaErrorInvalidValue);
  CHECK(launch(good, 2) == cudaErrorInvalidValue);
  CHECK(launch(good, 1, 4) == cudaErrorInvalidValue);
  const cudaStream_t defaults[] = {nullptr, cudaStreamLegacy, cudaStreamPerThread};
  for (const cudaStream_t one : defaults) {
    DeviceLaunch bad = good;
    bad.stream = one;
    CHECK(launch(bad) == cudaErrorInvalidResourceHandle);
  }
  DeviceLaunch bad = good;
  bad.blockDim.x = 0;
  CHECK(launch(bad) == cudaErrorInvalidConfiguration);
  CHECK(launch(good) == cudaErrorInvalidDeviceFunction);
  CHECK(launch(good, 1, 3) == cudaErrorInvalidDeviceFunction);
  CHECK(cudaGetLastError() == cudaErrorInvalidDeviceFunction);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}
