// Room cpu_runtime: what vendors' runtimes say of error codes.
#pragma once

#include <algorithm>
#include <iterator>

namespace mneme::cpu_runtime {

struct ErrorText {
  int code;
  const char* name;
  const char* sentence = nullptr; ///< "invalid argument"
};

/// The entry of a table that is ordered by codes, or null.
template <typename Table> const ErrorText* findError(const Table& table, int code) noexcept {
  const auto* entry = std::ranges::lower_bound(table, code, {}, &ErrorText::code);
  return entry != std::end(table) && entry->code == code ? entry : nullptr;
}

} // namespace mneme::cpu_runtime
