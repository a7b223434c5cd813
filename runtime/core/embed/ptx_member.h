// Room core/embed: PTX of a fat binary, which stands there beside machine code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/core/embed/byte_view.h"

namespace mneme::embed {

/// Returns the PTX that the driver would compile on a GPU of an architecture ("sm_90") if the fat
/// binary had no machine code; nothing if it has none, or is none.
/// \throws Error{ArtifactCorrupt} for damaged ones; Error{Unsupported} for more than 256 MiB
std::optional<std::vector<std::byte>> ptxFor(Bytes image, std::string_view architecture);

} // namespace mneme::embed
