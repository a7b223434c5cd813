// Room core/abi: where the body of a kernel is in the source. The passes write it, programs contain
// it, recordings store it, and kernels are named by it.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mneme {

/// Unknown if `file` is empty.
struct SourcePlace {
  std::string file; ///< as the compiler was given it
  uint32_t line = 0;
  uint32_t endLine = 0;
};

/// A line of a source file as people write it: "advec_mom.cpp:120".
struct SourceLine {
  std::string file; ///< the end of its path
  uint32_t line = 0;

  /// Returns nothing unless `text` is the name of a file with an extension, a colon and a number.
  static std::optional<SourceLine> parse(std::string_view text) {
    const size_t colon = text.rfind(':');
    if (colon == std::string_view::npos || colon + 1 == text.size())
      return std::nullopt;
    const std::string_view file = text.substr(0, colon);
    const size_t name = file.rfind('/') == std::string_view::npos ? 0 : file.rfind('/') + 1;
    const size_t dot = file.rfind('.');
    if (dot == std::string_view::npos || dot <= name || dot + 1 == file.size() ||
        file.find_first_of(":()[]*?^$\\|") != std::string_view::npos)
      return std::nullopt;
    SourceLine found{std::string(file), 0};
    const auto [stop, error] =
        std::from_chars(text.data() + colon + 1, text.data() + text.size(), found.line);
    if (error != std::errc() || stop != text.data() + text.size())
      return std::nullopt;
    return found;
  }

  /// Whether the line is one of the body's.
  bool isIn(const SourcePlace& place) const {
    const std::string_view path = place.file;
    return !file.empty() && path.ends_with(file) &&
           (path.size() == file.size() || path[path.size() - file.size() - 1] == '/') &&
           place.line <= line && line <= place.endLine;
  }
};

} // namespace mneme
