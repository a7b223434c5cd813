// Room jit: tuned kernels on AMD GPUs, loaded and launched as modules beside the program's own, by
// the HIP runtime it uses.
#pragma once

#include <memory>
#include <string>

#include "runtime/jit/backend.h"

namespace mneme::jit {

/// Whether a launch function is one of HIP's.
bool isHipEntry(const void* vendorEntry) noexcept;

/// Null when HIP cannot be used; `why` then says so.
std::unique_ptr<Backend> makeHipBackend(std::string& why);

} // namespace mneme::jit
