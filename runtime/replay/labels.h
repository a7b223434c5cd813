// Room replay: what people call a region.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/artifact/recording.h"
#include "runtime/replay/memory_image.h"
#include "runtime/replay/replay.h"

namespace mneme::replay {

/// Names of one site.
struct Label {
  std::string text; ///< "argument 'out' at 0x600000000000"
  std::string rule; ///< what a ToleranceRule calls it: "out", "counter", "0x600000000000"
  std::vector<std::string> names;            ///< every name that denotes it
  std::optional<device::DataType> type = {}; ///< what the kernel's signature says of its elements
};

/// Labels of `sites`, in order: a site has the name of the argument that points into it, of a
/// pointer inside a by-value argument, of the global it is, or its address. `demangled` is the
/// kernel's name with its parameters.
std::vector<Label> makeLabels(const std::vector<Site>& sites,
                              const std::vector<KernelArg>& arguments,
                              const std::vector<std::vector<std::byte>>& values,
                              const std::string& demangled);

/// True when `rule` is meant for this site: no region named, one of its names, or an address in it.
bool isMeant(const ToleranceRule& rule, const Site& site, const Label& label);

} // namespace mneme::replay
