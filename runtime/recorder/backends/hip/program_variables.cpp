#include "runtime/recorder/backends/hip/program_variables.h"

#include "runtime/recorder/backends/vendor_runtime.h"

namespace mneme::record {

/// HIP keeps shadows in a table, which it looks at when it is asked for one. A name that the code
/// object has not would end the process then (clr, hipamd/src/hip_platform.cpp and hip_global.cpp);
/// who gives us a source has looked.
const void* ProgramVariables::shadowOf(const VariableSource& source, const std::string& name) {
  if (source.hostShadow)
    return source.hostShadow;
  using Register =
      void (*)(void** modules, void* shadow, const char* hostName, const char* deviceName,
               int isExtern, size_t sizeBytes, int isConstant, int isGlobal);
  static const auto addVariable = find<Register>("__hipRegisterVar");
  if (!addVariable)
    return nullptr;
  const std::lock_guard lock(mutex_);
  std::unique_ptr<char>& shadow = shadows_[{source.registration, name}];
  if (!shadow) {
    shadow = std::make_unique<char>();
    addVariable(static_cast<void**>(source.handle), shadow.get(), name.c_str(), name.c_str(), 0,
                source.sizeBytes, 0, 0);
  }
  return shadow.get();
}

} // namespace mneme::record
