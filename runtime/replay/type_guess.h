// Room replay: what kind of numbers unannotated memory holds.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/device/compare.h"

namespace mneme::replay {

/// F32 or F64 where the bits look like numbers of that type, U32 for small integers, U8 otherwise.
/// `bytes` starts at an address that is a multiple of 8.
device::DataType guessType(std::span<const std::byte> bytes);

bool isFloating(device::DataType type);

} // namespace mneme::replay
