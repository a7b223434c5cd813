// Conformance: the kernels for AMD GPUs, made from those for NVIDIA's.
#pragma once

#include <string>

namespace conformance {

/// kKernels in the IR that compilers make for AMD GPUs, without the one that prints: that takes
/// ROCm's device libraries. Warps are halves of waves where those have 64 lanes.
std::string amdKernels();

} // namespace conformance
