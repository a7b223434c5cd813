// Room emulator/runtimes: code that goes on in another function, with all that it was called with.
#pragma once

#include <cstddef>

namespace mneme::cpu_runtime::cuda {

/// Whether there are such jumps for this processor.
bool hasJumps() noexcept;

/// Returns how many bytes of a function a jump takes; its first ones stay if they mark it as one
/// that may be called (endbr64).
size_t jumpBytes(const void* function) noexcept;
/// Replaces the beginning of a function that is not running. These bytes must be writable.
void writeJump(void* function, const void* target) noexcept;
/// Whether a function begins with what writeJump() writes.
bool isJump(const void* function) noexcept;

} // namespace mneme::cpu_runtime::cuda
