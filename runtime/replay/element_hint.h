// Room replay: finds the type of 16-bit numbers in a kernel's signature, because their bits do not
// show it.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "runtime/devices/compare_types.h"

namespace mneme::replay {

/// Returns F16 or BF16 if the parameter `index` of a text such as "f(__half*, int)" names exactly
/// one of them. Returns nothing for a text that does not describe a function.
std::optional<device::DataType> elementHint(std::string_view demangled, size_t index);

} // namespace mneme::replay
