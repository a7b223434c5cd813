// Room jit: compiled host functions in this process.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/core/abi/mneme_jit_host.h"

namespace mneme::jit {

/// Loads a shared object that was compiled from `function` and gives it the program's addresses. It
/// stays loaded for the life of the process, because calls may be in flight when the process ends.
/// Returns the compiled function. \throws Error{CompileFailed} with the loader's own message
void* loadHostCode(std::span<const std::byte> object, const mneme_host_function& function);

} // namespace mneme::jit
