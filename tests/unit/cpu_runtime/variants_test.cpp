#include "runtime/core/abi/cpu_variants.h"

#include <cstring>

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

namespace {

struct FatbinWrapper {
  int magic = 0x466243b1, version = 1;
  const void* data = nullptr;
  void* unused = nullptr;
};
FatbinWrapper wrapper;

void registered() {}
void notAKernel() {}

const void* handleOf(void (*function)()) { return reinterpret_cast<const void*>(function); }

} // namespace

extern "C" decltype(mneme_cpu_load_variant) mneme_cudart_load_variant;
extern "C" decltype(mneme_cpu_free_variant) mneme_cudart_free_variant;
extern "C" decltype(mneme_cpu_device_name) mneme_cudart_device_name;
extern "C" void** __cudaRegisterFatBinary(void* wrapper);
extern "C" void __cudaRegisterFunction(void** handle, const char* hostFunction, char*,
                                       const char* deviceName, int, void*, void*, void*, void*,
                                       int*);

TEST_CASE(
    "anything that is not an image of the kernel is refused, with a sentence and no last error") {
  __cudaRegisterFunction(__cudaRegisterFatBinary(&wrapper),
                         reinterpret_cast<const char*>(&registered), nullptr, "registered", -1,
                         nullptr, nullptr, nullptr, nullptr, nullptr);
  char message[256];
  void* variant = &variant;
  const auto load = [&](void (*function)(), const char* image) {
    return mneme_cudart_load_variant(handleOf(function), image, std::strlen(image), &variant,
                                     message, sizeof message);
  };
  CHECK(load(notAKernel, "image") == cudaErrorInvalidDeviceFunction);
  CHECK(std::strcmp(message, "invalid device function") == 0);
  CHECK(load(registered, "no image at all") == cudaErrorNoKernelImageForDevice);
  CHECK(std::strlen(message) > 10);
  CHECK(variant == &variant);
  CHECK(mneme_cudart_load_variant(handleOf(registered), "x", 1, &variant, nullptr, 0) ==
        cudaErrorNoKernelImageForDevice);
  CHECK(cudaGetLastError() == cudaSuccess);
  mneme_cudart_free_variant(nullptr);
  CHECK(std::strncmp(mneme_cudart_device_name(), "CPU (", 5) == 0);
}
