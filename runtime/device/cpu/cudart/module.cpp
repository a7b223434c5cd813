// Registration entry points that compilers emit calls to.
#include "runtime/base/log.h"
#include "runtime/device/cpu/cudart/exported.h"
#include "runtime/device/cpu/cudart/kernels.h"
#include "runtime/device/cpu/cudart/types.h"

using namespace mneme::cudart;

namespace {

constexpr int kFatbinWrapperMagic = 0x466243b1;

} // namespace

MNEME_CUDA_API void** __cudaRegisterFatBinary(void* wrapper) {
  void* handle = nullptr;
  always([&] {
    const auto* fatbin = static_cast<const FatbinWrapper*>(wrapper);
    if (!fatbin || fatbin->magic != kFatbinWrapperMagic) {
      mneme::notice("a fat binary with an unknown wrapper is ignored");
      return Status::Success;
    }
    handle = registerFatBinary(fatbin->data, wrapper);
    return Status::Success;
  });
  return static_cast<void**>(handle);
}

MNEME_CUDA_API void __cudaRegisterFatBinaryEnd(void**) {}

MNEME_CUDA_API void __cudaUnregisterFatBinary(void** handle) {
  always([&] {
    unregisterFatBinary(handle);
    return Status::Success;
  });
}

MNEME_CUDA_API void __cudaRegisterFunction(void** handle, const char* hostFunction, char*,
                                           const char* deviceName, int, void*, void*, void*, void*,
                                           int*) {
  always([&] {
    registerKernel(handle, hostFunction, deviceName);
    return Status::Success;
  });
}

MNEME_CUDA_API void __cudaRegisterVar(void** handle, char* hostVariable, char*,
                                      const char* deviceName, int, size_t bytes, int, int) {
  always([&] {
    registerGlobal(handle, hostVariable, deviceName, bytes);
    return Status::Success;
  });
}

MNEME_CUDA_API void __cudaRegisterManagedVar(void** handle, void** hostPointer, char*,
                                             const char* deviceName, int, size_t bytes, int, int) {
  always([&] {
    if (void* address = registerGlobal(handle, hostPointer, deviceName, bytes))
      *hostPointer = address;
    return Status::Success;
  });
}

MNEME_CUDA_API void __cudaRegisterHostVar(void**, const char*, char*, size_t) {}

MNEME_CUDA_API char __cudaInitModule(void**) { return 1; }

/// Where the device global behind a host shadow variable lives, with its initial value in place.
/// Returns 0, or the CUDA error code.
MNEME_CUDA_API int mneme_cudart_global_address(const void* hostShadow, void** address,
                                               size_t* bytes) {
  Status result = Status::Unknown;
  try {
    const auto global = findGlobal(hostShadow, true);
    result = global ? Status::Success : Status::InvalidSymbol;
    if (global && address)
      *address = global->address;
    if (global && bytes)
      *bytes = global->bytes;
  } catch (const std::exception& failure) {
    result = statusOf(failure);
  }
  return static_cast<int>(result);
}
