// Room nvcc: the GPUs of this machine, asked without CUDA's headers and without starting CUDA.
#pragma once

#include <vector>

namespace mneme::nvcc {

/// The compute capabilities of NVIDIA's GPUs here, each once, ascending; 75 stands for 7.5. Empty
/// where there is neither a GPU nor a driver. The management library is asked first: it answers for
/// all GPUs, whatever CUDA_VISIBLE_DEVICES hides, and in a few milliseconds, since it makes no use
/// of them. Where it is missing (Jetson), the driver is asked.
std::vector<unsigned> gpusHere();

} // namespace mneme::nvcc
