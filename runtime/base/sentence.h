// Room base: sentences made where an exception is handled, when there may be no memory for them.
#pragma once

#include <string>
#include <string_view>

namespace mneme {

/// The parts one behind the other; "out of memory" where there is none for that. An exception
/// thrown while another is handled would end the application.
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
