// Room replay: what a kernel's signature says about numbers of 16 bits, which look like any others.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "runtime/device/compare_types.h"

namespace mneme::replay {

/// F16 or BF16 where the parameter `index` of "f(__half*, int)" names one of them, and only one.
/// Nothing for a text that is no function's.
std::optional<device::DataType> elementHint(std::string_view demangled, size_t index);

} // namespace mneme::replay
