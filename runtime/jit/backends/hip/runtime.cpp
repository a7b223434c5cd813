#include "runtime/jit/backends/hip/runtime.h"

#include <type_traits>

#include <dlfcn.h>

namespace mneme::jit {
namespace {

/// Runtimes a program may have opened for itself, out of the global scope.
constexpr const char* kLibraries[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                      "libamdhip64.so"};

} // namespace

void* findInHip(const char* name) noexcept {
  if (void* address = dlsym(RTLD_DEFAULT, name))
    return address;
  for (const char* library : kLibraries)
    if (void* handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD)) {
      void* address = dlsym(handle, name);
      dlclose(handle);
      if (address)
        return address;
    }
  return nullptr;
}

const HipRuntime& HipRuntime::get() noexcept {
  static const HipRuntime runtime = [] {
    HipRuntime found;
    const auto look = [](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(findInHip(name));
    };
    look(found.getSymbolAddress, "hipGetSymbolAddress");
    look(found.registerVariable, "__hipRegisterVar");
    look(found.getFuncAttributes, "hipFuncGetAttributes");
    look(found.getPointerAttributes, "hipPointerGetAttributes");
    look(found.exchangeCaptureMode, "hipThreadExchangeStreamCaptureMode");
    look(found.streamIsCapturing, "hipStreamIsCapturing");
    look(found.peekAtLastError, "hipPeekAtLastError");
    look(found.getLastError, "hipGetLastError");
    look(found.getVersion, "hipRuntimeGetVersion");
    return found;
  }();
  return runtime;
}

} // namespace mneme::jit
