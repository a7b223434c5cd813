// Room jit: tuned kernels on NVIDIA GPUs, loaded and launched by the driver in the contexts that
// the program's CUDA runtime has made.
#pragma once

#include <memory>
#include <string>

#include "runtime/jit/backend.h"

namespace mneme::jit {

/// Null when there is no driver; `why` then says so.
std::unique_ptr<Backend> makeCudaBackend(const mneme_launch& launch, std::string& why);

} // namespace mneme::jit
