#include "runtime/jit/hidden_variable.h"

#include <algorithm>
#include <vector>

#include "runtime/core/embed/containers.h"
#include "runtime/core/embed/exported_variables.h"

namespace mneme::jit {

HiddenVariable findHidden(const mneme_module_entry& unit, const std::string& name) {
  constexpr size_t kMaxFatbins = 256;
  std::vector<const void*> fatbins(kMaxFatbins);
  fatbins.resize(std::min(mneme_rt_fatbins(&unit, fatbins.data(), fatbins.size()), kMaxFatbins));
  for (const void* fatbin : fatbins) {
    HiddenVariable variable;
    variable.codeHandle = mneme_rt_code_handle(fatbin, &variable.registration);
    if (!variable.codeHandle)
      continue;
    const auto exported = embed::exportedVariables(embed::imageInMemory(fatbin));
    if (const auto found = exported.find(name); found != exported.end()) {
      variable.sizeBytes = found->second;
      return variable;
    }
  }
  return {};
}

} // namespace mneme::jit
