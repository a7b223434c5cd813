// Functions of the driver that programs ask the CUDA runtime for.
#include <dlfcn.h>

#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/status.h"
#include "runtime/emulator/runtimes/core/vendor.h"

using namespace mneme::cpu_runtime;

namespace {

constexpr int kFound = 0, kNotFound = 1;

/// The process's driver, a recorder in front of it, answers.
Status find(const char* function, void** address, int version, unsigned long long flags,
            int* result) {
  using Get = int (*)(const char*, void**, int, unsigned long long, int*);
  if (!function || !*function || !address)
    return Status::InvalidValue;
  *address = nullptr;
  int found = kNotFound;
  if (const auto get = reinterpret_cast<Get>(dlsym(RTLD_DEFAULT, "cuGetProcAddress_v2")))
    if (get(function, address, version, flags, &found) != 0 && found == kFound)
      found = kNotFound;
  if (result)
    *result = found;
  return found == kFound || result ? Status::Success : Status::SymbolNotFound;
}

} // namespace

MNEME_RUNTIME_API Status cudaGetDriverEntryPointByVersion(const char* function, void** address,
                                                          unsigned version,
                                                          unsigned long long flags, int* result) {
  return api([&] { return find(function, address, static_cast<int>(version), flags, result); });
}

MNEME_RUNTIME_API Status cudaGetDriverEntryPoint(const char* function, void** address,
                                                 unsigned long long flags, int* result) {
  return api([&] { return find(function, address, runtimeVersion(), flags, result); });
}
