// Room record: where device variables of the program's units are, where the vendor's runtime gives
// handles for their code.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/abi/mneme_rt.h"

namespace mneme::record {

/// Where a variable of a unit can be found. Thread-safe.
struct VariableSource {
  const void* hostShadow = nullptr; ///< of the unit's host code; or
  void* handle = nullptr;           ///< what the runtime gave for code that exports its name
  uint64_t registration = 0;        ///< of that code: handles may come back for other code
  uint64_t sizeBytes = 0;           ///< 0: it is not found
};
/// \throws Error{ArtifactCorrupt}
VariableSource sourceOf(const mneme_module_entry& unit, const std::string& name);

} // namespace mneme::record
