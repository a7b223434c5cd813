#include "runtime/recorder/registered_code.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "runtime/core/embed/containers.h"
#include "runtime/core/embed/exported_variables.h"

namespace mneme::record {
namespace {

constexpr size_t kMaxFatbins = 256;

using Variables = std::map<std::string, uint64_t>;

/// What the code of a registration exports, read once.
struct Exports {
  std::mutex mutex;
  std::map<uint64_t, Variables> byRegistration;
};

const Variables& exportsOf(const void* fatbin, uint64_t registration) {
  static auto* const all = new Exports;
  const std::lock_guard lock(all->mutex);
  const auto known = all->byRegistration.find(registration);
  if (known != all->byRegistration.end())
    return known->second;
  return all->byRegistration[registration] = embed::exportedVariables(embed::imageInMemory(fatbin));
}

VariableSource ownSourceOf(const mneme_module_entry& unit, const std::string& name) {
  for (uint64_t index = 0; index < unit.globalCount; ++index)
    if (const mneme_global_entry& global = unit.globals[index];
        !(global.flags & MNEME_GLOBAL_EXTERN) && name == global.name)
      return {.hostShadow = global.hostShadow, .sizeBytes = global.sizeBytes};
  return {};
}

} // namespace

VariableSource sourceOf(const mneme_module_entry& unit, const std::string& name) {
  if (const VariableSource own = ownSourceOf(unit, name); own.sizeBytes > 0)
    return own;
  std::vector<const void*> fatbins(kMaxFatbins);
  fatbins.resize(std::min(mneme_rt_fatbins(&unit, fatbins.data(), fatbins.size()), kMaxFatbins));
  for (const void* fatbin : fatbins) {
    VariableSource source;
    source.handle = mneme_rt_code_handle(fatbin, &source.registration);
    if (!source.handle)
      continue;
    const Variables& exported = exportsOf(fatbin, source.registration);
    if (const auto found = exported.find(name); found != exported.end()) {
      source.sizeBytes = found->second;
      return source;
    }
  }
  return {};
}

} // namespace mneme::record
