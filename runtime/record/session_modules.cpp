// Room record: code that the program loads itself, as the session sees it.
#include "runtime/base/error.h"
#include "runtime/base/sentence.h"
#include "runtime/record/session.h"

namespace mneme::record {

void Session::moduleLoaded(std::shared_ptr<const LoadedModule> module) noexcept {
  try {
    moduleUnloaded(module->handle); // a device reset has ended another one
    loaded_.add(std::move(module));
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

void Session::kernelAskedFor(const void* function, void* module, const char* name) noexcept {
  try {
    loaded_.addKernel(function, module, name);
  } catch (const std::exception& error) {
    note(sentence("a kernel the program loaded itself is not recorded: ", error.what()));
  }
}

std::optional<LoadedKernel> Session::loadedKernel(const void* function) const noexcept {
  return loaded_.find(function);
}

} // namespace mneme::record
