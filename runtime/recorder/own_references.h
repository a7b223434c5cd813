// Room recorder: whether the program's code uses a function that was linked into it.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include <link.h>

namespace mneme::record {

/// Whether code or data of the program has the address of a function of its own for whose name
/// `isAsked` returns true. A library that was linked in whole names its functions in any program;
/// those that call them refer to them. `program` is the loader's entry of the program itself.
/// Returns nothing if the program's symbol table has no such function, or was removed, and on other
/// processors than x86-64.
std::optional<bool> refersToOwn(const dl_phdr_info& program,
                                const std::function<bool(std::string_view name)>& isAsked);

} // namespace mneme::record
