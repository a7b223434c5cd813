// Room recorder: finds device variables of the program's units, where the vendor's runtime has
// handles for their code.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/core/abi/mneme_rt.h"

namespace mneme::record {

/// Where a variable of a unit can be found. Thread-safe.
struct VariableSource {
  const void* hostShadow = nullptr; ///< in the unit's host code; or
  void* handle = nullptr;           ///< the runtime's handle of code that exports its name
  uint64_t registration = 0;        ///< tells code apart when a handle is used again
  uint64_t sizeBytes = 0;           ///< 0: not found
};
/// \throws Error{ArtifactCorrupt}
VariableSource sourceOf(const mneme_module_entry& unit, const std::string& name);

} // namespace mneme::record
