#include <cstring>

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

extern "C" cudaError_t cudaProfilerStart(); // its header is in a package of its own

TEST_CASE("there is one device with sensible properties") {
  int count = 0, device = -1, value = 0;
  CHECK(cudaGetDeviceCount(&count) == cudaSuccess);
  CHECK(count == 1);
  CHECK(cudaGetDevice(&device) == cudaSuccess);
  CHECK(device == 0);
  CHECK(cudaSetDevice(1) == cudaErrorInvalidDevice);
  cudaDeviceProp properties{};
  REQUIRE(cudaGetDeviceProperties(&properties, 0) == cudaSuccess);
  CHECK(std::strncmp(properties.name, "CPU (", 5) == 0);
  CHECK(properties.warpSize == 32);
  CHECK(properties.multiProcessorCount >= 1);
  CHECK(properties.totalGlobalMem > (size_t{1} << 28));
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0) == cudaSuccess);
  CHECK(value == properties.maxThreadsPerBlock);
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0) == cudaSuccess);
  CHECK(value == properties.multiProcessorCount);
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0) == cudaSuccess);
  CHECK(value == properties.major);
  CHECK(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(5000), 0) ==
        cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_CASE("limits are kept, versions and bus id known") {
  size_t value = 0;
  int version = 0, device = -1;
  char bus[32];
  CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 24) == cudaSuccess);
  CHECK(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize) == cudaSuccess);
  CHECK(value == 1 << 24);
  CHECK(cudaRuntimeGetVersion(&version) == cudaSuccess);
  CHECK(version == 13000);
  CHECK(cudaDriverGetVersion(&version) == cudaSuccess);
  CHECK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0) == cudaSuccess);
  CHECK(cudaDeviceGetByPCIBusId(&device, bus) == cudaSuccess);
  CHECK(device == 0);
  CHECK(cudaProfilerStart() == cudaSuccess);
}

TEST_CASE("errors have the documented names and sentences") {
  CHECK(std::strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);
  CHECK(std::strcmp(cudaGetErrorString(cudaErrorIllegalAddress),
                    "an illegal memory access was encountered") == 0);
  CHECK(std::strcmp(cudaGetErrorString(static_cast<cudaError_t>(1234)),
                    "unrecognized error code") == 0);
}

TEST_CASE("unsupported functions say so") {
  const cudaChannelFormatDesc format{32, 0, 0, 0, cudaChannelFormatKindFloat};
  cudaMipmappedArray_t array = nullptr;
  CHECK(cudaMallocMipmappedArray(&array, &format, {8, 8, 0}, 2) == cudaErrorNotSupported);
  CHECK(cudaPeekAtLastError() == cudaErrorNotSupported);
  CHECK(cudaGetLastError() == cudaErrorNotSupported);
  cudaGraphConditionalHandle handle = 0;
  CHECK(cudaGraphConditionalHandleCreate(&handle, nullptr, 0, 0) == cudaErrorNotSupported);
  cudaGetLastError();
}
