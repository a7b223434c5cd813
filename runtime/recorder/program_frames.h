// Room recorder: the part of the calling thread's stack that belongs to the program.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/core/base/word_ranges.h"

namespace mneme::record {

/// Where the frames of the callers of the library with this function begin, the innermost first;
/// the last number is an end. They do not change until this library returns. Empty if they are
/// unknown, as where the callers belong to the same file. What ends behind `stackEnd` counts no
/// more, and no caller behind it.
std::vector<uint64_t> programFrames(uint64_t stackEnd = ~0ull);

/// The same for callers of the code in `own`.
std::vector<uint64_t> framesOutside(const AddressRange& own, uint64_t stackEnd = ~0ull);

} // namespace mneme::record
