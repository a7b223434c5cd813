// Room emulator/runtimes: code that goes on in another function, with all that it was called with.
#pragma once

#include <cstddef>

namespace mneme::cpu_runtime::cuda {

/// Whether there are such jumps for this processor.
bool hasJumps() noexcept;

/// Returns how many bytes of a function a jump takes; an endbr64 at its start is kept.
size_t jumpBytes(const void* function) noexcept;
/// Replaces the beginning of a function. These bytes must be writable. A thread that enters the
/// function meanwhile waits until the jump is whole; none may be inside of these bytes.
void writeJump(void* function, const void* target) noexcept;
/// Whether a function begins with what writeJump() writes.
bool isJump(const void* function) noexcept;

} // namespace mneme::cpu_runtime::cuda
