// Room core/abi: words for what a kernel has beside arguments and memory, where several rooms know
// them. The passes and the readers of code without IR write them, recordings store them.
#pragma once

#include <string_view>

namespace mneme::read_words {

inline constexpr const char* kHeap = "the device's heap";
/// A kernel launches kernels itself.
inline constexpr const char* kLaunches = "launches of its own";
/// A kernel says which bodies of conditional nodes of its graph run.
inline constexpr const char* kConditions = "conditions of graphs";

/// Whether PTX that begins with `text` names the registers that say where the barrier of a
/// cooperative grid is: the device sets them for each launch, and no result depends on them.
constexpr bool isGridBarrier(std::string_view text) {
  const bool isOne = text.starts_with("envreg1") || text.starts_with("envreg2");
  return isOne && (text.size() == 7 || text[7] < '0' || text[7] > '9');
}

} // namespace mneme::read_words
