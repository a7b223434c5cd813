// Room record: the function that would have been called without the recorder.
#pragma once

#include <span>

namespace mneme::record {

/// The next definition of `name` behind this library, else one in an already loaded library of
/// these names; null if there is none.
void* nextSymbol(const char* name, std::span<const char* const> libraries) noexcept;

} // namespace mneme::record
