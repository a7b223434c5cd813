// Room replay: names of regions for users.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/core/artifact/recording.h"
#include "runtime/replay/memory_image.h"
#include "runtime/replay/replay.h"

namespace mneme::replay {

/// A pointer that leads into a site: an argument, or one at an offset in a structure passed by
/// value.
struct Source {
  size_t argument = 0;
  size_t offset = 0;
};

/// Names of one site.
struct Label {
  std::string text; ///< "argument 'out' at 0x600000000000"
  std::string rule; ///< its name in a ToleranceRule: "out", "counter", "0x600000000000"
  std::vector<std::string> names;            ///< every name that denotes it
  std::optional<device::DataType> type = {}; ///< type of its elements from the kernel's signature
  std::vector<Source> sources = {};          ///< every argument that points into it
  std::string global = {};                   ///< name of the variable, if it is one
};

/// Makes the labels of `sites`, in order. A site is named after the argument that points into it, a
/// pointer inside a by-value argument, the global it is, or its address. `demangled` is the
/// kernel's name with its parameters.
std::vector<Label> makeLabels(const std::vector<Site>& sites,
                              const std::vector<KernelArg>& arguments,
                              const std::vector<std::vector<std::byte>>& values,
                              const std::string& demangled);

/// Whether `rule` applies to this site: the rule names no region, one of the site's names, or an
/// address in it.
bool isMeant(const ToleranceRule& rule, const Site& site, const Label& label);

} // namespace mneme::replay
