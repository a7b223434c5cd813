#include <cstdint>
#include <cstring>
#include <vector>

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

extern "C" int mneme_cudart_adopt(const void* base, size_t bytes, int kind);
extern "C" void mneme_cudart_disown(const void* base);

TEST_CASE("data survives a round trip through device memory") {
  std::vector<int> source(1000, 7), result(1000, 0);
  int* device = nullptr;
  REQUIRE(cudaMalloc(reinterpret_cast<void**>(&device), 4000) == cudaSuccess);
  CHECK(cudaMemcpy(device, source.data(), 4000, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemset(device, 1, 4) == cudaSuccess);
  CHECK(cudaMemcpyAsync(result.data(), device, 4000, cudaMemcpyDefault, nullptr) == cudaSuccess);
  CHECK(result[0] == 0x01010101);
  CHECK(result[999] == 7);
  CHECK(cudaFree(device) == cudaSuccess);
}

TEST_CASE("copies refuse what CUDA refuses") {
  char host[64] = {};
  void* device = nullptr;
  REQUIRE(cudaMalloc(&device, 64) == cudaSuccess);
  CHECK(cudaMemcpy(device, host, 64, static_cast<cudaMemcpyKind>(9)) ==
        cudaErrorInvalidMemcpyDirection);
  CHECK(cudaMemcpy(device, nullptr, 64, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(device, host, 65, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemset(device, 0, 65) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy2D(device, 4, host, 8, 8, 2, cudaMemcpyHostToDevice) ==
        cudaErrorInvalidPitchValue);
  CHECK(cudaFree(device) == cudaSuccess);
  CHECK(cudaGetLastError() == cudaErrorInvalidPitchValue);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("frees refuse foreign, stale and host pointers") {
  int local = 0;
  void *device = nullptr, *host = nullptr;
  CHECK(cudaFree(nullptr) == cudaSuccess);
  CHECK(cudaFree(&local) == cudaErrorInvalidValue);
  REQUIRE(cudaMalloc(&device, 1 << 20) == cudaSuccess);
  REQUIRE(cudaMallocHost(&host, 100) == cudaSuccess);
  CHECK(cudaFree(static_cast<char*>(device) + 256) == cudaErrorInvalidValue);
  CHECK(cudaFree(host) == cudaErrorInvalidValue);
  CHECK(cudaFreeHost(device) == cudaErrorInvalidValue);
  CHECK(cudaFree(device) == cudaSuccess);
  CHECK(cudaFree(device) == cudaErrorInvalidValue);
  CHECK(cudaMemset(device, 0, 4) == cudaErrorInvalidValue);
  CHECK(cudaFreeHost(host) == cudaSuccess);
  void* huge = nullptr;
  CHECK(cudaMalloc(&huge, size_t{1} << 50) == cudaErrorMemoryAllocation);
  cudaGetLastError();
}

TEST_CASE("pitched and 3-D memory copies rows and slices") {
  constexpr size_t width = 100, height = 5, depth = 3;
  std::vector<char> source(width * height * depth), result(source.size());
  for (size_t index = 0; index < source.size(); ++index)
    source[index] = static_cast<char>(index * 31);
  cudaPitchedPtr memory{};
  REQUIRE(cudaMalloc3D(&memory, cudaExtent{width, height, depth}) == cudaSuccess);
  CHECK(memory.pitch == 512);
  cudaMemcpy3DParms up{};
  up.srcPtr = {source.data(), width, width, height};
  up.dstPtr = memory;
  up.extent = {width, height, depth};
  up.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&up) == cudaSuccess);
  CHECK(cudaMemset3D(memory, 9, cudaExtent{10, 1, 1}) == cudaSuccess);
  cudaMemcpy3DParms down{};
  down.srcPtr = memory;
  down.dstPtr = {result.data(), width, width, height};
  down.extent = up.extent;
  down.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&down) == cudaSuccess);
  CHECK(result[9] == 9);
  CHECK(std::memcmp(result.data() + 10, source.data() + 10, source.size() - 10) == 0);
  CHECK(cudaFree(memory.ptr) == cudaSuccess);

  void* plane = nullptr;
  size_t pitch = 0;
  REQUIRE(cudaMallocPitch(&plane, &pitch, width, height) == cudaSuccess);
  CHECK(cudaMemcpy2D(plane, pitch, source.data(), width, width, height, cudaMemcpyDefault) ==
        cudaSuccess);
  CHECK(cudaMemset2D(plane, pitch, 0, 1, height) == cudaSuccess);
  CHECK(static_cast<char*>(plane)[pitch * 4] == 0);
  CHECK(static_cast<char*>(plane)[pitch * 4 + 1] == source[4 * width + 1]);
  CHECK(cudaFree(plane) == cudaSuccess);
}

TEST_CASE("pointer attributes name the kind of memory") {
  void *device = nullptr, *managed = nullptr, *host = nullptr;
  int local = 0;
  cudaMalloc(&device, 8);
  cudaMallocManaged(&managed, 8, cudaMemAttachGlobal);
  cudaHostAlloc(&host, 8, cudaHostAllocMapped);
  cudaPointerAttributes attributes{};
  attributes.reserved[0] = 42;
  CHECK(cudaPointerGetAttributes(&attributes, static_cast<char*>(device) + 7) == cudaSuccess);
  CHECK(attributes.type == cudaMemoryTypeDevice);
  CHECK(attributes.hostPointer == nullptr);
  CHECK(attributes.reserved[0] == 42);
  cudaPointerGetAttributes(&attributes, managed);
  CHECK(attributes.type == cudaMemoryTypeManaged);
  cudaPointerGetAttributes(&attributes, host);
  CHECK(attributes.type == cudaMemoryTypeHost);
  CHECK(attributes.devicePointer == host);
  cudaPointerGetAttributes(&attributes, &local);
  CHECK(attributes.type == cudaMemoryTypeUnregistered);
  mneme_cudart_adopt(&local, sizeof local, 0);
  cudaPointerGetAttributes(&attributes, &local);
  CHECK(attributes.type == cudaMemoryTypeDevice);
  mneme_cudart_disown(&local);
  cudaFree(device);
  cudaFree(managed);
  cudaFreeHost(host);
}

TEST_CASE("host registration is remembered") {
  static char buffer[4096];
  void* device = nullptr;
  unsigned flags = 0;
  CHECK(cudaHostRegister(buffer, sizeof buffer, cudaHostRegisterPortable) == cudaSuccess);
  CHECK(cudaHostRegister(buffer, 16, 0) == cudaErrorHostMemoryAlreadyRegistered);
  CHECK(cudaHostGetDevicePointer(&device, buffer, 0) == cudaSuccess);
  CHECK(device == buffer);
  CHECK(cudaHostGetFlags(&flags, buffer) == cudaSuccess);
  CHECK((flags & cudaHostRegisterPortable) != 0);
  CHECK(cudaHostUnregister(buffer) == cudaSuccess);
  CHECK(cudaHostUnregister(buffer) == cudaErrorHostMemoryNotRegistered);
  cudaGetLastError();
}

TEST_CASE("stream-ordered memory and pools work") {
  cudaMemPool_t pool = nullptr;
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0) == cudaSuccess);
  uint64_t threshold = 123;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold) == cudaSuccess);
  threshold = 0;
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold) == cudaSuccess);
  CHECK(threshold == 123);
  cudaMemPoolProps properties{};
  cudaMemPool_t own = nullptr;
  REQUIRE(cudaMemPoolCreate(&own, &properties) == cudaSuccess);
  void *first = nullptr, *second = nullptr;
  CHECK(cudaMallocAsync(&first, 100, stream) == cudaSuccess);
  CHECK(cudaMallocFromPoolAsync(&second, 300, own, stream) == cudaSuccess);
  uint64_t used = 0;
  CHECK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used) == cudaSuccess);
  CHECK(used == 300);
  CHECK(cudaFreeAsync(first, stream) == cudaSuccess);
  CHECK(cudaFreeAsync(second, stream) == cudaSuccess);
  CHECK(cudaFreeAsync(second, stream) == cudaErrorInvalidValue);
  CHECK(cudaMemPoolDestroy(own) == cudaSuccess);
  CHECK(cudaMemPoolDestroy(own) == cudaErrorInvalidValue);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  cudaGetLastError();
}
