// Room core/abi: words for what a kernel has beside arguments and memory, where several rooms know
// them. The passes and the readers of code without IR write them, recordings store them.
#pragma once

namespace mneme::read_words {

inline constexpr const char* kHeap = "the device's heap";
/// A kernel launches kernels itself.
inline constexpr const char* kLaunches = "launches of its own";
/// A kernel says which bodies of conditional nodes of its graph run.
inline constexpr const char* kConditions = "conditions of graphs";

} // namespace mneme::read_words
