#include "runtime/emulator/runtimes/core/registry.h"

#include <algorithm>
#include <cstring>

#include <dlfcn.h>

#include "runtime/core/base/log.h"
#include "runtime/emulator/runtimes/core/global_arena.h"
#include "runtime/emulator/runtimes/core/heap.h"

namespace mneme::cpu_runtime {
namespace {

/// What was made at run time is in no object and has no siblings.
const void* objectBaseOf(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) ? info.dli_fbase : address;
}

void clear(const std::map<std::string, std::shared_ptr<GlobalStorage>>& globals) {
  for (const auto& [name, storage] : globals) {
    storage->isInitialised = false;
    std::memset(storage->address, 0, storage->bytes);
  }
}

} // namespace

std::shared_ptr<FatBinary> findBinary(void* handle) {
  Registry& registry = Registry::instance();
  const std::shared_lock lock(registry.tables);
  for (const auto& binary : registry.binaries)
    if (binary.get() == handle)
      return binary;
  return nullptr;
}

Registry& Registry::instance() {
  static Registry* registry = new Registry;
  return *registry;
}

std::vector<std::shared_ptr<FatBinary>> siblings(const std::shared_ptr<FatBinary>& binary) {
  std::vector<std::shared_ptr<FatBinary>> result = {binary};
  Registry& registry = Registry::instance();
  const std::shared_lock lock(registry.tables);
  for (const auto& other : registry.binaries)
    if (other != binary && other->objectBase == binary->objectBase)
      result.push_back(other);
  return result;
}

void* registerFatBinary(const void* data, const void* wrapper) {
  auto binary = std::make_shared<FatBinary>();
  binary->data = data;
  // What the program loads by itself belongs to no object and has no siblings.
  binary->objectBase = wrapper ? objectBaseOf(wrapper) : binary.get();
  void* handle = binary.get();
  Registry& registry = Registry::instance();
  const std::unique_lock lock(registry.tables);
  registry.binaries.push_back(std::move(binary));
  return handle;
}

void unregisterFatBinary(void* handle) {
  const auto binary = findBinary(handle);
  if (!binary)
    return;
  Registry& registry = Registry::instance();
  const std::lock_guard load(registry.load);
  const std::unique_lock lock(registry.tables);
  binary->data = nullptr;
  std::erase(registry.binaries, binary);
  std::erase_if(registry.shadows, [&](const auto& entry) { return entry.second.first == binary; });
  // Kernels that have run stay launchable: at exit, static destructors may come after this call.
  std::erase_if(registry.kernels, [&](const auto& entry) {
    return entry.second->binary == binary && !entry.second->isReady && !entry.second->hasVariants;
  });
}

void registerKernel(void* handle, const void* stub, const char* name) {
  auto kernel = std::make_shared<Kernel>();
  kernel->name = name;
  kernel->binary = findBinary(handle);
  if (!kernel->binary)
    return;
  Registry& registry = Registry::instance();
  const std::unique_lock lock(registry.tables);
  // Libraries that each have a kernel of this name share one stub, where the linker lets them: as
  // with CUDA and HIP, it launches the kernel that was registered first.
  std::shared_ptr<Kernel>& known = registry.kernels[stub];
  if (!known || !known->binary->data)
    known = std::move(kernel);
}

void* registerGlobal(void* handle, const void* hostShadow, const char* name, size_t bytes) {
  const auto binary = findBinary(handle);
  if (!binary)
    return nullptr;
  Registry& registry = Registry::instance();
  const std::lock_guard load(registry.load);
  std::shared_ptr<GlobalStorage>& storage = binary->globals[name];
  if (!storage) {
    void* address = GlobalArena::instance().allocate(bytes, 0, true);
    if (!address) {
      notice("no address space left for device variable '" + std::string(name) + "'");
      return nullptr;
    }
    storage = std::make_shared<GlobalStorage>(GlobalStorage{name, address, bytes, false});
    Heap::instance().adopt(address, bytes, MemoryKind::Device, 0);
  }
  const std::unique_lock lock(registry.tables);
  registry.shadows[hostShadow] = {binary, name};
  return storage->address;
}

std::shared_ptr<Kernel> findKernel(const void* handle) {
  Registry& registry = Registry::instance();
  const std::shared_lock lock(registry.tables);
  const auto found = registry.kernels.find(handle);
  return found == registry.kernels.end() ? nullptr : found->second;
}

void markInitialised(GlobalStorage& global) {
  const std::lock_guard load(Registry::instance().load);
  global.isInitialised = true;
}

std::vector<std::shared_ptr<GlobalStorage>> initialisedGlobals() {
  Registry& registry = Registry::instance();
  const std::lock_guard load(registry.load);
  const std::shared_lock lock(registry.tables);
  std::vector<std::shared_ptr<GlobalStorage>> globals;
  for (const auto& binary : registry.binaries)
    for (const auto& [name, storage] : binary->globals)
      if (storage->isInitialised)
        globals.push_back(storage);
  return globals;
}

void resetGlobals() {
  Registry& registry = Registry::instance();
  const std::lock_guard load(registry.load);
  const std::shared_lock lock(registry.tables);
  for (const auto& [handle, kernel] : registry.kernels) {
    kernel->isReady = false;
    clear(kernel->aheadOfTime.ownGlobals);
  }
  for (const auto& binary : registry.binaries)
    clear(binary->globals);
  ++registry.deviceLife;
}

uint64_t deviceLife() noexcept { return Registry::instance().deviceLife; }

} // namespace mneme::cpu_runtime
