// Room jit/missing_code: which GPUs this machine has.
#pragma once

#include <string>
#include <vector>

namespace mneme::missing {

/// Returns the architectures of this machine's NVIDIA GPUs (90), ascending, each once; empty if
/// there are none, or if NVML (libnvidia-ml.so.1, of the driver) does not answer. Starts no CUDA,
/// which would not survive a fork. NVML is asked once after every start of the machine: the answer
/// is kept in the user's cache.
std::vector<unsigned> gpuArchitectures();

/// Reads "sm_90,sm_80" (or ';' between them). \throws Error{InvalidArgument} for anything else
std::vector<unsigned> architecturesIn(const std::string& text);

} // namespace mneme::missing
