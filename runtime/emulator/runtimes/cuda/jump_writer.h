// Room emulator/runtimes: jumps in the code of a program or library that is loaded.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/emulator/runtimes/cuda/loaded_object.h"

namespace mneme::cpu_runtime::cuda {

/// A function that is to jump.
struct JumpPlace {
  uintptr_t address;
  const void* target;
};

/// Writes jumps into the code of an object, as writeJump() does. \throws Error{IoFailed} if the
/// system does not let code be written, and Error{Unsupported} if it is in several parts.
void writeJumps(const LoadedObject& object, std::span<const JumpPlace> places);

} // namespace mneme::cpu_runtime::cuda
