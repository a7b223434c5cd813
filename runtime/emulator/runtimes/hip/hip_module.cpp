// Code objects the program loads by itself, and managed variables, in the HIP API.
#include <cstring>
#include <string>
#include <vector>

#include <dlfcn.h>

#include "runtime/core/base/error.h"
#include "runtime/core/base/log.h"
#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/kernels.h"
#include "runtime/emulator/runtimes/core/loaded_module.h"
#include "runtime/emulator/runtimes/core/own_calls.h"

using namespace mneme::cpu_runtime;

namespace {

constexpr unsigned kAttachGlobal = 1;

/// The program's allocation function, so that a recorder in front of this library serves it.
void* allocateManaged(size_t bytes) {
  void* pointer = nullptr;
  using Allocate = Status (*)(void**, size_t, unsigned);
  const auto allocate = reinterpret_cast<Allocate>(dlsym(RTLD_DEFAULT, "hipMallocManaged"));
  return allocate && allocate(&pointer, bytes, kAttachGlobal) == Status::Success ? pointer
                                                                                 : nullptr;
}

} // namespace

MNEME_RUNTIME_API Status hipModuleLoad(void** module, const char* path) {
  return api([&] { return loadModuleFile(module, path); });
}

/// The image is the caller's again on return.
MNEME_RUNTIME_API Status hipModuleLoadData(void** module, const void* image) {
  return api([&] {
    const Status status = loadModule(module, image);
    if (status == Status::Success)
      carriesKernels(*module); // reads it
    return status;
  });
}

MNEME_RUNTIME_API Status hipModuleLoadDataEx(void** module, const void* image, unsigned, int*,
                                             void**) {
  return hipModuleLoadData(module, image);
}

MNEME_RUNTIME_API Status hipModuleUnload(void* module) {
  return api([&] { return unloadModule(module); });
}

MNEME_RUNTIME_API Status hipModuleGetFunction(const void** function, void* module,
                                              const char* name) {
  return api([&] { return findFunction(function, module, name); });
}

MNEME_RUNTIME_API Status hipModuleGetGlobal(void** address, size_t* bytes, void* module,
                                            const char* name) {
  return api([&] { return findVariable(address, bytes, module, name); });
}

MNEME_RUNTIME_API Status hipModuleLaunchKernel(const void* function, unsigned gridX, unsigned gridY,
                                               unsigned gridZ, unsigned blockX, unsigned blockY,
                                               unsigned blockZ, unsigned sharedBytes, void* stream,
                                               void** parameters, void** extra) {
  return api([&] {
    std::vector<void*> unpacked;
    if (!parameters)
      if (const Status bad = unpackArguments(function, extra, unpacked); bad != Status::Success)
        return bad;
    return gpuLaunchKernel(function, {gridX, gridY, gridZ}, {blockX, blockY, blockZ},
                           parameters ? parameters : unpacked.data(), sharedBytes, stream);
  });
}

MNEME_RUNTIME_API Status hipModuleLaunchCooperativeKernel(const void* function, unsigned gridX,
                                                          unsigned gridY, unsigned gridZ,
                                                          unsigned blockX, unsigned blockY,
                                                          unsigned blockZ, unsigned sharedBytes,
                                                          void* stream, void** parameters) {
  return gpuLaunchCooperativeKernel(function, {gridX, gridY, gridZ}, {blockX, blockY, blockZ},
                                    parameters, sharedBytes, stream);
}

/// HIP_LAUNCH_CONFIG, in which the shared memory has 32 bits.
struct DriverLaunchConfig {
  Dim3 grid, block;
  unsigned sharedBytes;
  void* stream;
  LaunchAttribute* attributes;
  unsigned attributeCount;
};

MNEME_RUNTIME_API Status hipDrvLaunchKernelEx(const DriverLaunchConfig* config,
                                              const void* function, void** parameters,
                                              void** extra) {
  return api([&] {
    std::vector<void*> unpacked;
    if (!config)
      return Status::InvalidValue;
    if (!parameters)
      if (const Status bad = unpackArguments(function, extra, unpacked); bad != Status::Success)
        return bad;
    const LaunchConfig wanted{config->grid,   config->block,      config->sharedBytes,
                              config->stream, config->attributes, config->attributeCount};
    return gpuLaunchKernelExC(&wanted, function, parameters ? parameters : unpacked.data());
  });
}

/// The grid is counted in threads.
MNEME_RUNTIME_API Status hipExtModuleLaunchKernel(const void* function, unsigned threadsX,
                                                  unsigned threadsY, unsigned threadsZ,
                                                  unsigned blockX, unsigned blockY, unsigned blockZ,
                                                  size_t sharedBytes, void* stream,
                                                  void** parameters, void** extra, void* startEvent,
                                                  void* stopEvent, unsigned) {
  if (!blockX || !blockY || !blockZ)
    return remember(Status::InvalidConfiguration);
  if (threadsX % blockX || threadsY % blockY || threadsZ % blockZ)
    return api([]() -> Status {
      throw mneme::Error(mneme::ErrorCode::Unsupported,
                         "hipExtModuleLaunchKernel with a last block that is not full is not "
                         "supported on the CPU device");
    });
  Status status = startEvent ? gpuEventRecord(startEvent, stream) : Status::Success;
  if (status == Status::Success)
    status = hipModuleLaunchKernel(function, threadsX / blockX, threadsY / blockY,
                                   threadsZ / blockZ, blockX, blockY, blockZ,
                                   static_cast<unsigned>(sharedBytes), stream, parameters, extra);
  return status == Status::Success && stopEvent ? gpuEventRecord(stopEvent, stream) : status;
}

/// Kernels find a managed variable by a pointer in device memory, the host by one of its own.
MNEME_RUNTIME_API void __hipRegisterManagedVar(void* binary, void** hostPointer,
                                               const void* initialValue, const char* name,
                                               size_t bytes, unsigned) {
  always([&] {
    void* storage = allocateManaged(bytes);
    void* devicePointer = registerGlobal(binary, hostPointer, name, sizeof storage);
    if (!storage || !devicePointer) {
      mneme::notice("no memory for managed variable '" + std::string(name) + "'");
      return Status::MemoryAllocation;
    }
    std::memcpy(storage, initialValue, bytes);
    std::memcpy(devicePointer, &storage, sizeof storage);
    if (const auto global = findGlobal(hostPointer, false))
      markInitialised(*global);
    *hostPointer = storage;
    return Status::Success;
  });
}
