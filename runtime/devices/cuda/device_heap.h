// Room devices/cuda: the heap from which kernels allocate (`new`, `malloc`). The driver shows
// nobody where it is, and copies nothing of it; kernels can read and write it.
#pragma once

#include "runtime/core/base/word_ranges.h"
#include "runtime/devices/cuda/cuda_driver.h"

namespace mneme::device::cuda {

/// Returns the heap of the current context; empty if it does not look as a new heap does. Call it
/// before kernels have allocated anything. Allocates and frees two blocks by a kernel of ours,
/// whose module stays loaded: the heap exists as long as such modules do. The allocator keeps some
/// of its tables elsewhere, so that a heap with other content is good for reading and writing
/// blocks only. Call it while the device is idle: loading the kernel may wait for other work. The
/// kernel itself is waited for during `timeoutSeconds` (0: without limit); if it starts later it
/// does nothing. \throws Error
AddressRange findHeap(const Driver& driver, CUstream stream, double timeoutSeconds);

} // namespace mneme::device::cuda
