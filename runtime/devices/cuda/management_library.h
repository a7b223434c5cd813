// Room devices/cuda: NVIDIA's management library (NVML), which answers without starting CUDA.
#pragma once

#include <vector>

namespace mneme::device::cuda {

/// Returns the compute capabilities of this machine's GPUs, whatever CUDA_VISIBLE_DEVICES hides:
/// each once, ascending, 90 for 9.0. Empty if NVML does not answer. Functions and types are those
/// of its reference (docs.nvidia.com/deploy/nvml-api). \throws Error{BackendUnavailable} without
/// the library
std::vector<unsigned> architecturesByNvml();

} // namespace mneme::device::cuda
