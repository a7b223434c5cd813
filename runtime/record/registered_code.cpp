#include "runtime/record/registered_code.h"

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <unistd.h>

#include "runtime/embed/containers.h"
#include "runtime/embed/exported_variables.h"

namespace mneme::record {
namespace {

constexpr size_t kMaxFatbins = 256;
constexpr uint32_t kExternGlobal = 4; ///< mneme_global_entry::flags

using Variables = std::map<std::string, uint64_t>;

struct Registration {
  void* handle = nullptr;
  uint64_t number = 0;
  std::shared_ptr<const Variables> exported; ///< null until somebody asks
};

/// A child has the lock as another thread of its parent may have left it.
struct Registrations {
  const pid_t owner = getpid();
  std::mutex mutex;
  std::map<const void*, Registration> byContent;
  uint64_t count = 0;
};

/// Null in a forked child.
Registrations* registrations() noexcept {
  static auto* const all = new Registrations;
  return all->owner == getpid() ? all : nullptr;
}

VariableSource ownSourceOf(const mneme_module_entry& unit, const std::string& name) {
  for (uint64_t index = 0; index < unit.globalCount; ++index)
    if (const mneme_global_entry& global = unit.globals[index];
        !(global.flags & kExternGlobal) && name == global.name)
      return {.hostShadow = global.hostShadow, .sizeBytes = global.sizeBytes};
  return {};
}

} // namespace

void codeRegistered(const void* fatbin, void* handle) noexcept {
  Registrations* all = registrations();
  if (!all || !handle)
    return;
  try {
    const std::lock_guard lock(all->mutex);
    all->byContent[fatbin] = {handle, ++all->count, nullptr};
  } catch (const std::exception&) { // no memory: its variables cannot be found
  }
}

void codeUnregistered(void* handle) noexcept {
  if (Registrations* all = registrations()) {
    const std::lock_guard lock(all->mutex);
    std::erase_if(all->byContent, [&](const auto& item) { return item.second.handle == handle; });
  }
}

VariableSource sourceOf(const mneme_module_entry& unit, const std::string& name) {
  if (const VariableSource own = ownSourceOf(unit, name); own.sizeBytes > 0)
    return own;
  std::vector<const void*> fatbins(kMaxFatbins);
  fatbins.resize(std::min(mneme_rt_fatbins(&unit, fatbins.data(), fatbins.size()), kMaxFatbins));
  Registrations* all = registrations();
  if (!all)
    return {};
  const std::lock_guard lock(all->mutex);
  for (const void* fatbin : fatbins) {
    const auto known = all->byContent.find(fatbin);
    if (known == all->byContent.end())
      continue;
    Registration& code = known->second;
    if (!code.exported)
      code.exported =
          std::make_shared<const Variables>(embed::exportedVariables(embed::imageInMemory(fatbin)));
    if (const auto found = code.exported->find(name); found != code.exported->end())
      return {.handle = code.handle, .registration = code.number, .sizeBytes = found->second};
  }
  return {};
}

} // namespace mneme::record
