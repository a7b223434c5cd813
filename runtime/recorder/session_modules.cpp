// Room recorder: code that the program loads itself, as the session sees it.
#include "runtime/core/base/demangled.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/sentence.h"
#include "runtime/recorder/session.h"

namespace mneme::record {

void Session::moduleLoaded(std::shared_ptr<const LoadedModule> module) noexcept {
  try {
    moduleUnloaded(module->handle); // a device reset has ended another one
    loaded_.add(std::move(module));
    const std::lock_guard lock(notesMutex_);
    unowned_.clear();
  } catch (const std::exception& error) {
    note(sentence("code the program loaded itself is not recorded: ", error.what()));
  }
}

std::shared_ptr<const LoadedModule> Session::moduleUnloaded(void* handle) noexcept {
  try {
    const auto known = loaded_.remove(handle);
    if (known)
      moduleUnregistered(&known->unit);
    return known;
  } catch (const std::exception& error) {
    note(sentence("code the program unloaded may be mistaken for other code: ", error.what()));
    return nullptr;
  }
}

void Session::moduleAskedFor(void* library, void* module) noexcept {
  try {
    loaded_.addModuleOf(library, module);
  } catch (const std::exception& error) {
    note(sentence("kernels of a library the program loaded itself are not recorded: ",
                  error.what()));
  }
}

void Session::kernelAskedFor(const void* function, void* module, const char* name) noexcept {
  try {
    if (loaded_.addKernel(function, module, name))
      catalog_->forgetHandle(function);
  } catch (const std::exception& error) {
    note(sentence("a kernel the program loaded itself is not recorded: ", error.what()));
  }
}

void Session::aliasAskedFor(const void* function, const void* kernel) noexcept {
  try {
    const void* first = loaded_.firstHandle(kernel);
    if (!first && mneme_rt_find_kernel(kernel, nullptr, nullptr))
      first = kernel;
    loaded_.addAlias(function, first);
  } catch (const std::exception& error) {
    note(sentence("a kernel is not recorded when launched through another of its handles: ",
                  error.what()));
  }
}

Session::FoundKernel Session::findKernel(const void* function) noexcept {
  try {
    const void* kernel = loaded_.firstHandle(function);
    if (!kernel && mneme_rt_find_kernel(function, nullptr, nullptr))
      kernel = function;
    if (!kernel)
      kernel = ownedByHandle(function);
    return kernel ? FoundKernel{kernel, catalog_->find(kernel)} : FoundKernel{};
  } catch (const std::exception& error) {
    note(sentence("a launch could not be recorded: ", error.what()));
    return {};
  }
}

/// The vendor's libraries get handles by ways of their own, too.
const void* Session::ownedByHandle(const void* function) {
  {
    const std::lock_guard lock(notesMutex_);
    if (unowned_.contains(function))
      return nullptr;
  }
  // A library that another thread unloads must not be asked.
  const std::shared_lock stays(unloading_, std::try_to_lock);
  if (!stays)
    return nullptr;
  const LoadedModules::Handles known = loaded_.handles();
  const std::string name =
      known.modules.empty() && known.libraries.empty() ? "" : backend_.nameOf(function);
  void* const owner =
      name.empty() ? nullptr : backend_.ownerOf(function, name, known.modules, known.libraries);
  if (owner) {
    kernelAskedFor(function, owner, name.c_str());
    return loaded_.firstHandle(function);
  }
  const std::lock_guard lock(notesMutex_);
  unowned_.insert(function);
  return nullptr;
}

std::string Session::nameOf(const void* function) {
  const void* first = loaded_.firstHandle(function);
  const void* kernel = first ? first : function;
  if (const auto loaded = loaded_.find(kernel))
    return loaded->name;
  const char* name = nullptr;
  if (mneme_rt_find_kernel(kernel, nullptr, &name) && name)
    return name;
  return backend_.nameOf(kernel);
}

void Session::noteKernelOnce(const char* reason, const void* function) noexcept {
  try {
    {
      const std::lock_guard lock(notesMutex_);
      if (!notedOnce_.insert(function).second)
        return;
    }
    const std::string name = nameOf(function);
    note((name.empty() ? "a kernel" : "kernel '" + demangled(name) + "'") + ": " + reason);
  } catch (const std::exception&) { // no memory for a note: the application matters more
  }
}

} // namespace mneme::record
