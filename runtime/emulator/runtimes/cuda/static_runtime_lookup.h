// Room emulator/runtimes: the file that a program or library was loaded from.
#pragma once

#include <optional>

#include "runtime/emulator/runtimes/cuda/loaded_object.h"
#include "runtime/emulator/runtimes/cuda/static_runtime_file.h"

namespace mneme::cpu_runtime::cuda {

/// Returns what the file says that the object was loaded from. Its path may be of another directory
/// or lead to another file by now: what is mapped counts. Nothing if that file cannot be read.
/// \throws std::bad_alloc
std::optional<StaticRuntimeFile> findStaticRuntime(const LoadedObject& object);

} // namespace mneme::cpu_runtime::cuda
