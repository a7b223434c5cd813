// Room replay: the type of the numbers in a region, which is the same for every binary of a kernel.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/devices/compare_types.h"
#include "runtime/replay/labels.h"

namespace mneme::replay {

/// What is known about one region from the recorded code.
struct SiteElements {
  bool isKnown = false; ///< whether the code or the kernel's signature uses the region
  /// With isKnown: the type of the numbers stored there; nothing if there are several types.
  std::optional<device::DataType> type = {};
  /// Whether atomics add up floating-point numbers there, in no certain order.
  bool isUnordered = false;
};

/// Asks the compiler only at the first use: types are not needed if a kernel reproduces the
/// recorded memory.
class ElementTypes {
public:
  /// `describe` returns statistics with "elements" (compiler/module/elements.h); if it throws
  /// Error, all types are unknown. `labels` must outlive this.
  ElementTypes(const std::vector<Label>& labels, std::function<std::string()> describe)
      : labels_(labels), describe_(std::move(describe)) {}

  const SiteElements& of(size_t site);

private:
  void ask();

  const std::vector<Label>& labels_;
  std::function<std::string()> describe_;
  std::vector<SiteElements> sites_;
};

} // namespace mneme::replay
