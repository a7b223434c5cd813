// Room recorder: finds the function that would have been called without the recorder.
#pragma once

#include <span>

namespace mneme::record {

/// Returns the next definition of `name` after this library, else one in a loaded library with one
/// of these names; null if there is none.
void* nextSymbol(const char* name, std::span<const char* const> libraries) noexcept;

} // namespace mneme::record
