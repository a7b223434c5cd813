// Room device/cuda: images into modules.
#pragma once

#include <string>

#include "runtime/device/cuda/driver.h"

namespace mneme::device::cuda {

/// Loads a cubin, a fat binary or zero-terminated PTX text into the current context.
/// \param what  begins the sentence of a failure: "loading kernel 'scale'"
/// \throws Error{CompileFailed} with the driver's text and the assembler's log, Error{OutOfMemory},
/// and as check() for a context that was lost before.
CUmodule loadModule(const Driver& driver, const void* image, const std::string& what);

} // namespace mneme::device::cuda
