// Room replay: guesses the type of numbers in memory without annotation.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/devices/compare.h"

namespace mneme::replay {

/// Returns F32 or F64 if the bits look like numbers of that type, U32 for small integers, U8
/// otherwise. `bytes` starts at an address that is a multiple of 8.
device::DataType guessType(std::span<const std::byte> bytes);

bool isFloating(device::DataType type);

} // namespace mneme::replay
