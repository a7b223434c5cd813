// Room device/cuda: what PTX text says about itself.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mneme::device::cuda {

/// What the text is for: "sm_90"; empty if it is no PTX.
std::string targetOfPtx(std::string_view text);

/// Sizes of the parameters of a kernel, in order; empty if there is no such kernel.
std::vector<uint64_t> argumentSizesOfPtx(std::string_view text, const std::string& kernel);

} // namespace mneme::device::cuda
