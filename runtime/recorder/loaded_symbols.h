// Room recorder: which functions a loaded program or library imports.
#pragma once

#include <functional>
#include <string_view>

#include <link.h>

namespace mneme::record {

/// Whether an undefined symbol of the object has a name for which `isAsked` returns true.
bool importsAny(const dl_phdr_info& info,
                const std::function<bool(std::string_view name)>& isAsked) noexcept;

} // namespace mneme::record
