// Room embed: device variables that a loaded code object can be asked for by name.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "runtime/embed/byte_view.h"

namespace mneme::embed {

/// Names that every code object of a bundle exports, compressed or not, and how many bytes the
/// first one has for them. \throws Error{ArtifactCorrupt}
std::map<std::string, uint64_t> exportedVariables(Bytes bundle);

} // namespace mneme::embed
