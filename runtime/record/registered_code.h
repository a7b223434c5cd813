// Room record: fat binaries as the vendor's runtime has registered them, where it gives handles for
// them, and what device variables they have.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/abi/mneme_rt.h"

namespace mneme::record {

// From the constructors of the program on; no session has begun then. In a forked child they do
// nothing.
void codeRegistered(const void* fatbin, void* handle) noexcept;
void codeUnregistered(void* handle) noexcept;

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
