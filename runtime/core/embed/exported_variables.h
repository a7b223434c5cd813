// Room core/embed: device variables that can be found by name in a loaded code object.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "runtime/core/embed/byte_view.h"

namespace mneme::embed {

/// Returns the names that every code object of a bundle exports, compressed or not, with their
/// sizes in the first one. \throws Error{ArtifactCorrupt}
std::map<std::string, uint64_t> exportedVariables(Bytes bundle);

} // namespace mneme::embed
