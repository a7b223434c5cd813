// Room core/loaded: finds the function that would have been called without ours.
#pragma once

#include <span>

namespace mneme::loaded {

/// Returns the next definition of `name` after this library, else one in a loaded library with one
/// of these names; null if there is none.
void* nextSymbol(const char* name, std::span<const char* const> libraries) noexcept;
/// Returns the definition of `other` in the library where nextSymbol() finds `name`, or null.
void* besideNext(const char* name, const char* other,
                 std::span<const char* const> libraries) noexcept;

} // namespace mneme::loaded
