// Registration entry points that compilers emit calls to.
#include "runtime/core/base/log.h"
#include "runtime/emulator/executor/device_heap.h"
#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/kernels.h"
#include "runtime/emulator/runtimes/core/types.h"
#include "runtime/emulator/runtimes/core/vendor.h"

using namespace mneme::cpu_runtime;

namespace {

/// For other libraries of ours: the application's last error stays what it was.
template <typename Body> Status quietly(Body&& body) {
  const Status before = takeLastError();
  const Status status = always(body);
  takeLastError();
  remember(before);
  return status;
}

} // namespace

MNEME_RUNTIME_API void** gpuRegisterFatBinary(void* wrapper) {
  void* handle = nullptr;
  always([&] {
    const auto* fatbin = static_cast<const FatbinWrapper*>(wrapper);
    if (!fatbin || fatbin->magic != vendor.fatbinWrapperMagic) {
      mneme::notice("a fat binary with an unknown wrapper is ignored");
      return Status::Success;
    }
    handle = registerFatBinary(fatbin->data, wrapper);
    return Status::Success;
  });
  return static_cast<void**>(handle);
}

MNEME_RUNTIME_API void gpuUnregisterFatBinary(void** handle) {
  always([&] {
    unregisterFatBinary(handle);
    return Status::Success;
  });
}

MNEME_RUNTIME_API void gpuRegisterFunction(void** handle, const char* hostFunction, char*,
                                           const char* deviceName, int, void*, void*, void*, void*,
                                           int*) {
  always([&] {
    registerKernel(handle, hostFunction, deviceName);
    return Status::Success;
  });
}

MNEME_RUNTIME_API void gpuRegisterVar(void** handle, char* hostVariable, char*,
                                      const char* deviceName, int, size_t bytes, int, int) {
  always([&] {
    registerGlobal(handle, hostVariable, deviceName, bytes);
    return Status::Success;
  });
}

/// Compiles and loads a kernel and gives its device variables their initial values, as its first
/// launch would. Returns 0, or the vendor's error code.
MNEME_RUNTIME_API int mneme_cpu_prepare(const void* function) {
  return static_cast<int>(quietly([&] {
    const auto kernel = findKernel(function);
    return kernel ? prepare(*kernel) : Status::InvalidDeviceFunction;
  }));
}

/// Calls `visit` with name, address and size of every device variable a prepared kernel refers to
/// or may reach, including those the host program cannot name. Returns 0, or the vendor's error
/// code.
MNEME_RUNTIME_API int mneme_cpu_visit_globals(const void* function,
                                              void (*visit)(void* user, const char* name,
                                                            void* address, size_t bytes),
                                              void* user) {
  return static_cast<int>(quietly([&] {
    const auto kernel = findKernel(function);
    if (!kernel)
      return Status::InvalidDeviceFunction;
    for (const auto& global : globalsOf(*kernel))
      visit(user, global->name.c_str(), global->address, global->bytes);
    return Status::Success;
  }));
}

/// The same with every device variable of the program whose content is in place.
MNEME_RUNTIME_API void mneme_cpu_visit_all_globals(void (*visit)(void* user, const char* name,
                                                                 void* address, size_t bytes),
                                                   void* user) {
  quietly([&] {
    for (const auto& global : initialisedGlobals())
      visit(user, global->name.c_str(), global->address, global->bytes);
    // What kernels have allocated is as good as variables without names.
    for (const auto& blocks : mneme::device::cpu::heapExtents())
      visit(user, "", blocks.base, blocks.sizeBytes);
    return Status::Success;
  });
}

/// See mneme::device::cpu::heapState(): of what kernels have allocated.
MNEME_RUNTIME_API uint64_t mneme_cpu_heap_state() { return mneme::device::cpu::heapState(); }

/// Where the device variable behind a host shadow lives, with its initial value in place.
/// Returns 0, or the vendor's error code.
MNEME_RUNTIME_API int mneme_cpu_global_address(const void* hostShadow, void** address,
                                               size_t* bytes) {
  return static_cast<int>(quietly([&] {
    const auto global = findGlobal(hostShadow, true);
    if (!global)
      return Status::InvalidSymbol;
    if (address)
      *address = global->address;
    if (bytes)
      *bytes = global->bytes;
    return Status::Success;
  }));
}
