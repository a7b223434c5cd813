// Room devices/cuda: reads facts from PTX text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mneme::device::cuda {

/// Returns the target, such as "sm_90"; empty if the text is not PTX.
std::string targetOfPtx(std::string_view text);

/// Returns the sizes of a kernel's parameters, in order; empty if there is no such kernel.
std::vector<uint64_t> argumentSizesOfPtx(std::string_view text, const std::string& kernel);

} // namespace mneme::device::cuda
