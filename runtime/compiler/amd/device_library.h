// Room compiler: ROCm's device libraries, which modules made at run time call for mathematics.
#pragma once

#include <llvm/IR/Module.h>

#include <string>

#include "runtime/compiler/diagnostics.h"

namespace mneme::compile {

/// Links what `module` calls of them (`__ocml_`, `__ockl_`) for the processor `cpu`, with waves of
/// its usual size. They are looked for where HIP_DEVICE_LIB_PATH says, in ROCM_PATH and HIP_PATH,
/// in /opt/rocm and where Debian has them.
/// \throws Error{NotFound} if it calls some and there are none, or none for this processor
void linkAmdDeviceLibrary(llvm::Module& module, const std::string& cpu, Diagnostics& diagnostics);

} // namespace mneme::compile
