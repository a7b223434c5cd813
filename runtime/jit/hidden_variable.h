// Room jit: device variables of the program that its host code has no shadow of, where the vendor's
// runtime gives handles for registered code.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/abi/mneme_rt.h"

namespace mneme::jit {

/// Code that exports the variable.
struct HiddenVariable {
  void* codeHandle = nullptr; ///< what the runtime calls it; null: the variable is not found
  uint64_t registration = 0;  ///< handles may come back for other code
  uint64_t sizeBytes = 0;
};

/// \throws Error{ArtifactCorrupt}
HiddenVariable findHidden(const mneme_module_entry& unit, const std::string& name);

} // namespace mneme::jit
