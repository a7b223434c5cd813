#include "runtime/emulator/runtimes/core/loaded_module.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "runtime/core/abi/argument_buffer.h"
#include "runtime/core/base/log.h"
#include "runtime/core/base/own_descriptors.h"
#include "runtime/emulator/runtimes/core/handle_table.h"
#include "runtime/emulator/runtimes/core/kernels.h"

namespace mneme::cpu_runtime {
namespace {

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

/// Under the module's mutex.
const void* functionOf(Module& module, const std::string& name) {
  auto& known = module.functions[name];
  if (!known) {
    known = std::make_unique<char>();
    registerKernel(module.binary, known.get(), name.c_str());
  }
  return known.get();
}

} // namespace

Status loadModule(void** handle, const void* image) {
  return handle && image ? load(handle, {}, image) : Status::InvalidValue;
}

Status loadModuleFile(void** handle, const char* path) {
  if (!handle || !path)
    return Status::InvalidValue;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return kFileNotFound;
  std::vector<char> bytes = mneme::apart([&] {
    std::ifstream file(path, std::ios::binary);
    return std::vector<char>{std::istreambuf_iterator<char>(file), {}};
  });
  if (bytes.size() < 64)
    return kFileNotFound;
  bytes.push_back(0); // text ends so
  return load(handle, std::move(bytes), nullptr);
}

Status unloadModule(void* handle) {
  return modules().remove(handle) ? Status::Success : Status::InvalidResourceHandle;
}

bool carriesKernels(void* handle) {
  const auto module = modules().find(handle);
  return module && hasKernels(module->binary);
}

Status findFunction(const void** function, void* handle, const char* name) {
  const auto module = modules().find(handle);
  if (!function || !name || !module)
    return module ? Status::InvalidValue : Status::InvalidResourceHandle;
  const std::lock_guard lock(module->mutex);
  if (!hasKernel(module->binary, name)) {
    noticeOnce(
        "code that the program loaded has no kernel '" + std::string(name) +
        "', or no mneme IR of it, without which it does not run on the CPU device: mneme-cxx "
        "compiles code with IR, the vendors' compilers for code at run time do not");
    return kNotFound;
  }
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

Status unpackArguments(const void* function, void** extra, std::vector<void*>& args) {
  const auto kernel = findKernel(function);
  if (!kernel || describe(*kernel) != Status::Success)
    return Status::InvalidDeviceFunction;
  return mneme::unpackArguments(extra, kernel->blob->args, args) ? Status::Success
                                                                 : Status::InvalidValue;
}

} // namespace mneme::cpu_runtime
