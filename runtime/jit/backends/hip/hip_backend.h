// Room jit: tuned kernels on AMD GPUs. The program's HIP runtime loads and launches them, as
// modules next to the program's own.
#pragma once

#include <memory>
#include <string>

#include "runtime/jit/jit_backend.h"

namespace mneme::jit {

/// Whether a launch function is one of HIP's.
bool isHipEntry(const void* vendorEntry) noexcept;

/// Returns null if HIP cannot be used, with the reason in `why`.
std::unique_ptr<Backend> makeHipBackend(std::string& why);

} // namespace mneme::jit
