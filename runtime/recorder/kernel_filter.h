// Room recorder: which kernels a filter names, by name, label or line of a source file.
#pragma once

#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "runtime/core/abi/source_place.h"

namespace mneme::record {

struct KernelFilter {
  std::optional<std::regex> names; ///< without its lines of source files
  std::vector<SourceLine> lines;   ///< these

  /// Reads a regular expression of which alternatives may be lines of files. \throws
  /// std::regex_error
  static KernelFilter parse(const std::string& text);

  /// Whether it lets every kernel pass.
  bool isEmpty() const { return !names && lines.empty(); }
  /// Whether a kernel with these names, and with this place, is wanted.
  bool wants(const std::string& mangled, const std::string& demangled,
             const SourcePlace& place = {}) const;
  /// Whether launches with this label are wanted, whatever the kernel.
  bool wantsLabel(const std::string& label) const;
};

} // namespace mneme::record
