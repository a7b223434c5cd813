// Room jit: finds device variables without a shadow in host code, where the vendor's runtime has
// handles for registered code.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/core/abi/mneme_rt.h"

namespace mneme::jit {

/// Code that exports the variable.
struct HiddenVariable {
  void* codeHandle = nullptr; ///< the runtime's handle of the code; null: variable not found
  uint64_t registration = 0;  ///< tells code apart when a handle is used again
  uint64_t sizeBytes = 0;
};

/// \throws Error{ArtifactCorrupt}
HiddenVariable findHidden(const mneme_module_entry& unit, const std::string& name);

} // namespace mneme::jit
