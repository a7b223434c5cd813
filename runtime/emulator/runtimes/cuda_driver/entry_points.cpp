// How programs find the functions of the CUDA driver API by name.
#include <cstring>
#include <string>

#include <dlfcn.h>

#include "runtime/core/abi/cpu_driver_services.h"
#include "runtime/core/base/log.h"
#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/cuda_driver/forward.h"

using namespace mneme::cpu_runtime::cuda_driver;

namespace {

constexpr int kFound = 0, kNotFound = 1;

/// Functions that have other parameters since some release; of all others the newest is given.
struct Change {
  const char* function;
  int since; ///< 1000 * major + 10 * minor
  const char* suffix;
};
constexpr Change kChanges[] = {
    {"cuCtxCreate", 12050, "_v4"},      {"cuCtxCreate", 11040, "_v3"}, {"cuCtxCreate", 0, "_v2"},
    {"cuGetProcAddress", 12000, "_v2"}, {"cuGetProcAddress", 0, ""},
};

const char* suffixOf(const std::string& function, int version) {
  for (const Change& change : kChanges)
    if (function == change.function && version >= change.since)
      return change.suffix;
  return nullptr;
}

/// The program's function of this name, so that a recorder in front of this library sees its calls.
void* find(const std::string& name) {
  static void* own = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  void* address = dlsym(RTLD_DEFAULT, name.c_str());
  return address || !own ? address : dlsym(own, name.c_str());
}

void* findFor(const std::string& function, int version) {
  if (const char* suffix = suffixOf(function, version))
    return find(function + suffix);
  for (const char* suffix : {"_v3", "_v2", ""})
    if (void* address = find(function + suffix))
      return address;
  return nullptr;
}

/// cuBLAS, cuFFT and their like contain a runtime and kernels of which there is machine code alone.
void reportOwnRuntime(const void* caller) noexcept {
  Dl_info asks{};
  if (mneme_cudart_is_reported_unreplaced(caller) || !dladdr(caller, &asks) || !asks.dli_fname)
    return;
  try {
    const std::string path = asks.dli_fname;
    mneme::noticeOnce("'" + path.substr(path.rfind('/') + 1) +
                      "' contains a CUDA runtime of its own and kernels without mneme IR: on the "
                      "CPU device its calls fail; run what uses it on a GPU");
  } catch (...) { // no memory for the message
  }
}

} // namespace

/// The functions for streams of each thread are the same here, under further names.
MNEME_RUNTIME_API int cuGetProcAddress_v2(const char* function, void** address, int version,
                                          unsigned long long, int* result) {
  if (!function || !address || std::strncmp(function, "cu", 2) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  *address = findFor(function, version);
  if (result)
    *result = *address ? kFound : kNotFound;
  return *address || result ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

MNEME_RUNTIME_API int cuGetProcAddress(const char* function, void** address, int version,
                                       unsigned long long flags) {
  return cuGetProcAddress_v2(function, address, version, flags, nullptr);
}

/// NVIDIA's runtime asks for its private tables first of all. That is one linked statically which
/// ours could not replace (cuda/static_runtime.h): to it there is no device.
MNEME_RUNTIME_API int cuGetExportTable(const void**, const void*) {
  reportOwnRuntime(__builtin_return_address(0));
  return CUDA_ERROR_NO_DEVICE;
}
