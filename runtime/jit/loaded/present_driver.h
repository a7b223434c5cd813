// Room jit/loaded: the driver of this process.
#pragma once

#include <memory>

#include "runtime/jit/loaded/loaded_driver.h"

namespace mneme::jit {

/// \throws Error{BackendUnavailable} if there is none
std::unique_ptr<LoadedDriver> presentDriver();

} // namespace mneme::jit
