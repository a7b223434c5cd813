// Room devices/cuda: loads images as modules.
#pragma once

#include <string>

#include "runtime/devices/cuda/cuda_driver.h"

namespace mneme::device::cuda {

/// Loads a cubin, a fat binary or zero-terminated PTX text into the current context. The driver
/// compiles PTX by the options in its first line, except for one of another architecture.
/// \param what the beginning of the error message: "loading kernel 'scale'"
/// \throws Error{CompileFailed} with the driver's text and the assembler's log, Error{OutOfMemory},
/// and as check() for a context that was already lost.
CUmodule loadModule(const Driver& driver, const void* image, const std::string& what);

} // namespace mneme::device::cuda
