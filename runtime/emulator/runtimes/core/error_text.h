// Room emulator/runtimes: the vendors' texts for error codes.
#pragma once

#include <algorithm>
#include <iterator>

namespace mneme::cpu_runtime {

struct ErrorText {
  int code;
  const char* name;
  const char* sentence = nullptr; ///< "invalid argument"
};

/// Returns the entry for `code` in a table sorted by code, or null.
template <typename Table> const ErrorText* findError(const Table& table, int code) noexcept {
  const auto* entry = std::ranges::lower_bound(table, code, {}, &ErrorText::code);
  return entry != std::end(table) && entry->code == code ? entry : nullptr;
}

} // namespace mneme::cpu_runtime
