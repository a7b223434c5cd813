// Room core/base: makes messages in exception handlers, where there may be no memory for them.
#pragma once

#include <string>
#include <string_view>

namespace mneme {

/// Returns the joined parts, or "out of memory" if there is no memory. An exception thrown in a
/// handler would end the application.
template <typename... Parts> std::string sentence(const Parts&... parts) noexcept {
  try {
    std::string text;
    (text.append(std::string_view(parts)), ...);
    return text;
  } catch (...) {
    return "out of memory"; // short enough to need none
  }
}

} // namespace mneme
