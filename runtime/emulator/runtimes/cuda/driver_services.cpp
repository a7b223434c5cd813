// What the driver API on this device needs of the runtime (abi/cpu_driver_services.h).
#include "runtime/core/abi/cpu_driver_services.h"

#include <algorithm>
#include <string>
#include <vector>

#include "runtime/core/base/log.h"
#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/graph_capture.h"
#include "runtime/emulator/runtimes/core/graph_params.h"
#include "runtime/emulator/runtimes/core/heap.h"
#include "runtime/emulator/runtimes/core/loaded_module.h"
#include "runtime/emulator/runtimes/core/vendor.h"

using namespace mneme::cpu_runtime;

namespace {

/// The application's last error stays what it was.
template <typename Body> int quietly(Body&& body) {
  const Status before = takeLastError();
  const Status status = api(body);
  takeLastError();
  remember(before);
  return static_cast<int>(status);
}

const void* withoutWrapper(const void* image) {
  const auto* wrapper = static_cast<const FatbinWrapper*>(image);
  return wrapper->magic == vendor.fatbinWrapperMagic ? wrapper->data : image;
}

Status load(void** module, const void* image, const char* path) {
  const Status status =
      image ? loadModule(module, withoutWrapper(image)) : loadModuleFile(module, path);
  if (status != Status::Success)
    return status;
  bool isUsable = false;
  try {
    isUsable = carriesKernels(*module);
  } catch (...) {
    unloadModule(*module);
    throw;
  }
  if (isUsable)
    return Status::Success;
  unloadModule(*module);
  mneme::noticeOnce((image ? "device code that the program loads"
                           : "the device code in '" + std::string(path) + "'") +
                    " carries no mneme IR: compile it with mneme-cxx (or -fpass-plugin) to run it "
                    "on the CPU device");
  return Status::NoKernelImageForDevice;
}

template <typename Element> void fillRows(const MemsetParams& params) {
  for (size_t row = 0; row < params.height; ++row)
    std::fill_n(reinterpret_cast<Element*>(static_cast<char*>(params.dst) + row * params.pitch),
                params.width, static_cast<Element>(params.value));
}

Status fillNow(const MemsetParams& params) {
  if (isFaulted())
    return Status::Success;
  params.elementSize == 4   ? fillRows<uint32_t>(params)
  : params.elementSize == 2 ? fillRows<uint16_t>(params)
                            : fillRows<uint8_t>(params);
  return Status::Success;
}

/// As CUDA has it: elements are aligned and in one allocation.
Status check(const MemsetParams& params) {
  const size_t rowBytes = params.width * params.elementSize;
  if (params.width > SIZE_MAX / params.elementSize || !params.dst ||
      reinterpret_cast<uintptr_t>(params.dst) % params.elementSize ||
      (params.height > 1 &&
       (params.pitch < rowBytes || params.pitch > SIZE_MAX / params.height - rowBytes)))
    return Status::InvalidValue;
  const size_t bytes = params.pitch * (params.height - 1) + rowBytes;
  return Heap::instance().isAccessible(params.dst, bytes) ? Status::Success : Status::InvalidValue;
}

} // namespace

MNEME_RUNTIME_API int mneme_cudart_load_module(void** module, const void* image, const char* path) {
  return quietly([&] { return module ? load(module, image, path) : Status::InvalidValue; });
}

MNEME_RUNTIME_API int mneme_cudart_unload_module(void* module) {
  return quietly([&] { return unloadModule(module); });
}

MNEME_RUNTIME_API int mneme_cudart_module_function(const void** function, void* module,
                                                   const char* name) {
  return quietly([&] { return findFunction(function, module, name); });
}

MNEME_RUNTIME_API int mneme_cudart_module_global(void** address, size_t* bytes, void* module,
                                                 const char* name) {
  return quietly([&] { return findVariable(address, bytes, module, name); });
}

MNEME_RUNTIME_API int mneme_cudart_unpack_arguments(const void* function, void** extra,
                                                    int (*use)(void* user, void** args),
                                                    void* user) {
  std::vector<void*> args;
  const int status = quietly([&] { return unpackArguments(function, extra, args); });
  return status == 0 ? use(user, args.data()) : status;
}

MNEME_RUNTIME_API int mneme_cudart_fill(void* destination, size_t pitch, unsigned value,
                                        unsigned elementBytes, size_t width, size_t height,
                                        void* stream) {
  return quietly([&] {
    if (width == 0 || height == 0)
      return Status::Success;
    const MemsetParams params{destination, pitch, value, elementBytes, width, height};
    if (const Status bad = check(params); bad != Status::Success)
      return bad;
    return onStream(
        stream, [&](Work& work) { return toWork(&params, work); }, [&] { return fillNow(params); });
  });
}
