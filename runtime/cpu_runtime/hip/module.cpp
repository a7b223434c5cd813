// Code objects the program loads by itself, and managed variables, in the HIP API.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <dlfcn.h>

#include "runtime/base/error.h"
#include "runtime/base/log.h"
#include "runtime/base/own_descriptors.h"
#include "runtime/cpu_runtime/core/handle_table.h"
#include "runtime/cpu_runtime/core/kernels.h"
#include "runtime/cpu_runtime/hip/exported.h"
#include "runtime/cpu_runtime/hip/vendor_calls.h"

using namespace mneme::cpu_runtime::hip;

namespace {

constexpr auto kFileNotFound = static_cast<Status>(301);
constexpr auto kNotFound = static_cast<Status>(500);
constexpr unsigned kAttachGlobal = 1;

struct Module {
  ~Module() { unregisterFatBinary(binary); }

  std::vector<char> file; ///< empty if the program holds the bytes
  void* binary = nullptr;
  std::mutex mutex;
  /// Their addresses are the handles.
  std::map<std::string, std::unique_ptr<char>> functions, globals;
};

HandleTable<Module>& modules() {
  static auto* table = new HandleTable<Module>;
  return *table;
}

Status load(void** handle, std::vector<char> file, const void* image) {
  auto module = std::make_shared<Module>();
  module->file = std::move(file);
  module->binary = registerFatBinary(image ? image : module->file.data(), nullptr);
  *handle = modules().add(std::move(module));
  return Status::Success;
}

Status loadFile(void** handle, const char* path) {
  if (!handle || !path)
    return Status::InvalidValue;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return kFileNotFound;
  std::vector<char> bytes = mneme::apart([&] {
    std::ifstream file(path, std::ios::binary);
    return std::vector<char>{std::istreambuf_iterator<char>(file), {}};
  });
  return bytes.size() < 64 ? kFileNotFound : load(handle, std::move(bytes), nullptr);
}

/// Under the module's mutex.
const void* functionOf(Module& module, const std::string& name) {
  auto& known = module.functions[name];
  if (!known) {
    known = std::make_unique<char>();
    registerKernel(module.binary, known.get(), name.c_str());
  }
  return known.get();
}

Status findFunction(const void** function, void* handle, const char* name) {
  const auto module = modules().find(handle);
  if (!function || !name || !module)
    return module ? Status::InvalidValue : Status::InvalidResourceHandle;
  const std::lock_guard lock(module->mutex);
  *function = functionOf(*module, name);
  const auto kernel = findKernel(*function);
  return kernel && describe(*kernel) == Status::Success ? Status::Success : kNotFound;
}

Status findVariable(void** address, size_t* bytes, void* handle, const char* name) {
  const auto module = modules().find(handle);
  if (!name || !module)
    return module ? Status::InvalidValue : Status::InvalidResourceHandle;
  const std::lock_guard lock(module->mutex);
  auto& known = module->globals[name];
  if (!known) {
    const GlobalUse use = findUses(module->binary, name);
    if (!use.bytes)
      return kNotFound;
    for (const std::string& kernel : use.kernels) // one of them brings the initial value
      functionOf(*module, kernel);
    known = std::make_unique<char>();
    registerGlobal(module->binary, known.get(), name, use.bytes);
  }
  const auto storage = findGlobal(known.get(), true);
  if (!storage)
    return Status::MemoryAllocation;
  if (address)
    *address = storage->address;
  if (bytes)
    *bytes = storage->bytes;
  return Status::Success;
}

/// Where each argument lies in the buffer of `extra`: {1, buffer, 2, &bytes, 3}.
Status unpack(const void* function, void** extra, std::vector<void*>& args) {
  char* buffer = nullptr;
  size_t bytes = 0;
  for (; extra && reinterpret_cast<uintptr_t>(*extra) != 3; extra += 2) {
    if (reinterpret_cast<uintptr_t>(*extra) == 1)
      buffer = static_cast<char*>(extra[1]);
    else if (reinterpret_cast<uintptr_t>(*extra) == 2)
      bytes = *static_cast<size_t*>(extra[1]);
    else
      return Status::InvalidValue;
  }
  const auto kernel = findKernel(function);
  if (!kernel || describe(*kernel) != Status::Success)
    return Status::InvalidDeviceFunction;
  size_t at = 0;
  for (const auto& arg : kernel->blob->args) {
    const size_t alignment = arg.alignBytes ? arg.alignBytes : 1;
    at = (at + alignment - 1) / alignment * alignment;
    if (!buffer || at + arg.sizeBytes > bytes)
      return Status::InvalidValue;
    args.push_back(buffer + at);
    at += arg.sizeBytes;
  }
  return Status::Success;
}

/// The program's allocation function, so that a recorder in front of this library serves it.
void* allocateManaged(size_t bytes) {
  void* pointer = nullptr;
  using Allocate = Status (*)(void**, size_t, unsigned);
  const auto allocate = reinterpret_cast<Allocate>(dlsym(RTLD_DEFAULT, "hipMallocManaged"));
  return allocate && allocate(&pointer, bytes, kAttachGlobal) == Status::Success ? pointer
                                                                                 : nullptr;
}

} // namespace

MNEME_HIP_API Status hipModuleLoad(void** module, const char* path) {
  return api([&] { return loadFile(module, path); });
}

MNEME_HIP_API Status hipModuleLoadData(void** module, const void* image) {
  return api([&] { return module && image ? load(module, {}, image) : Status::InvalidValue; });
}

MNEME_HIP_API Status hipModuleLoadDataEx(void** module, const void* image, unsigned, int*, void**) {
  return hipModuleLoadData(module, image);
}

MNEME_HIP_API Status hipModuleUnload(void* module) {
  return api(
      [&] { return modules().remove(module) ? Status::Success : Status::InvalidResourceHandle; });
}

MNEME_HIP_API Status hipModuleGetFunction(const void** function, void* module, const char* name) {
  return api([&] { return findFunction(function, module, name); });
}

MNEME_HIP_API Status hipModuleGetGlobal(void** address, size_t* bytes, void* module,
                                        const char* name) {
  return api([&] { return findVariable(address, bytes, module, name); });
}

MNEME_HIP_API Status hipModuleLaunchKernel(const void* function, unsigned gridX, unsigned gridY,
                                           unsigned gridZ, unsigned blockX, unsigned blockY,
                                           unsigned blockZ, unsigned sharedBytes, void* stream,
                                           void** parameters, void** extra) {
  return api([&] {
    std::vector<void*> unpacked;
    if (!parameters)
      if (const Status bad = unpack(function, extra, unpacked); bad != Status::Success)
        return bad;
    return cudaLaunchKernel(function, {gridX, gridY, gridZ}, {blockX, blockY, blockZ},
                            parameters ? parameters : unpacked.data(), sharedBytes, stream);
  });
}

MNEME_HIP_API Status hipModuleLaunchCooperativeKernel(const void* function, unsigned gridX,
                                                      unsigned gridY, unsigned gridZ,
                                                      unsigned blockX, unsigned blockY,
                                                      unsigned blockZ, unsigned sharedBytes,
                                                      void* stream, void** parameters) {
  return cudaLaunchCooperativeKernel(function, {gridX, gridY, gridZ}, {blockX, blockY, blockZ},
                                     parameters, sharedBytes, stream);
}

/// The grid is counted in threads.
MNEME_HIP_API Status hipExtModuleLaunchKernel(const void* function, unsigned threadsX,
                                              unsigned threadsY, unsigned threadsZ, unsigned blockX,
                                              unsigned blockY, unsigned blockZ, size_t sharedBytes,
                                              void* stream, void** parameters, void** extra,
                                              void* startEvent, void* stopEvent, unsigned) {
  if (!blockX || !blockY || !blockZ)
    return remember(Status::InvalidConfiguration);
  if (threadsX % blockX || threadsY % blockY || threadsZ % blockZ)
    return api([]() -> Status {
      throw mneme::Error(mneme::ErrorCode::Unsupported,
                         "hipExtModuleLaunchKernel with a last block that is not full is not "
                         "supported on the CPU device");
    });
  Status status = startEvent ? cudaEventRecord(startEvent, stream) : Status::Success;
  if (status == Status::Success)
    status = hipModuleLaunchKernel(function, threadsX / blockX, threadsY / blockY,
                                   threadsZ / blockZ, blockX, blockY, blockZ,
                                   static_cast<unsigned>(sharedBytes), stream, parameters, extra);
  return status == Status::Success && stopEvent ? cudaEventRecord(stopEvent, stream) : status;
}

/// Kernels find a managed variable by a pointer in device memory, the host by one of its own.
MNEME_HIP_API void __hipRegisterManagedVar(void* binary, void** hostPointer,
                                           const void* initialValue, const char* name, size_t bytes,
                                           unsigned) {
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
