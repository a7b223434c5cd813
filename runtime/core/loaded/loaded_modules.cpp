#include "runtime/core/loaded/loaded_modules.h"

#include <mutex>
#include <utility>

namespace mneme::loaded {

void LoadedModules::add(std::shared_ptr<const LoadedModule> module) {
  const std::unique_lock lock(mutex_);
  modules_[module->handle] = std::move(module);
}

std::shared_ptr<const LoadedModule> LoadedModules::remove(void* handle) {
  const std::unique_lock lock(mutex_);
  const auto known = modules_.extract(handle);
  if (known.empty())
    return nullptr;
  std::erase_if(modules_, [&](const auto& module) { return module.second == known.mapped(); });
  std::erase_if(aliases_, [&](const auto& alias) {
    const auto kernel = kernels_.find(alias.second);
    return kernel != kernels_.end() && kernel->second.module == known.mapped();
  });
  std::erase_if(kernels_,
                [&](const auto& kernel) { return kernel.second.module == known.mapped(); });
  return known.mapped();
}

std::vector<void*> LoadedModules::handlesIn(const void* context) const {
  const std::shared_lock lock(mutex_);
  std::vector<void*> handles;
  for (const auto& [handle, module] : modules_)
    if (context && module->context == context)
      handles.push_back(handle);
  return handles;
}

LoadedModules::Handles LoadedModules::handles() const {
  const std::shared_lock lock(mutex_);
  Handles all;
  for (const auto& [handle, module] : modules_)
    (module->isLibrary && handle == module->handle ? all.libraries : all.modules).push_back(handle);
  return all;
}

void LoadedModules::addModuleOf(void* library, void* module) {
  const std::unique_lock lock(mutex_);
  if (const auto known = modules_.find(library); known != modules_.end())
    modules_.insert_or_assign(module, std::shared_ptr(known->second));
  else if (module != library)
    modules_.erase(module); // the handle was another module's, whose context ended
}

bool LoadedModules::addKernel(const void* function, void* module, const char* name) {
  const std::unique_lock lock(mutex_);
  aliases_.erase(function);
  const auto known = modules_.find(module);
  const auto before = kernels_.find(function);
  const bool wasKnown = before != kernels_.end();
  if (known == modules_.end()) {
    kernels_.erase(function);
    return wasKnown;
  }
  const bool isOther = wasKnown && (before->second.module != known->second || //
                                    before->second.name != name);
  kernels_[function] = {known->second, name};
  return isOther;
}

std::optional<LoadedKernel> LoadedModules::find(const void* function) const {
  const std::shared_lock lock(mutex_);
  const auto known = kernels_.find(function);
  return known == kernels_.end() ? std::nullopt : std::optional(known->second);
}

const void* LoadedModules::firstHandle(const void* function) const {
  const std::shared_lock lock(mutex_);
  const auto alias = aliases_.find(function);
  if (alias != aliases_.end())
    return alias->second;
  return kernels_.contains(function) ? function : nullptr;
}

void LoadedModules::addAlias(const void* function, const void* kernel) {
  const std::unique_lock lock(mutex_);
  if (!kernel) {
    aliases_.erase(function);
    kernels_.erase(function);
  } else if (function != kernel) {
    aliases_[function] = kernel;
  }
}

} // namespace mneme::loaded
