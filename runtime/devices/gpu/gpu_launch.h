// Room devices/gpu: checks launches of a kernel, and waits for them.
#pragma once

#include <string>

#include "runtime/devices/gpu/gpu_driver.h"
#include "runtime/devices/gpu/loaded_kernel.h"

namespace mneme::device::gpu {

/// \throws Error{InvalidArgument}
[[noreturn]] void refuse(const std::string& why);
uint64_t product(const uint32_t* dims);
/// "(256, 1, 1)"
std::string triple(const uint32_t* dims);
/// "launching kernel 'scale' with grid (1, 1, 1) and block (256, 1, 1)"
std::string launchText(const LoadedKernel& module, const LaunchShape& shape);
bool isSame(const LaunchShape& first, const LaunchShape& second);

/// \throws Error{InvalidArgument} if the kernel cannot run with so many threads in a block
void checkThreads(const Description& device, const LoadedKernel& module, const LaunchShape& shape);
/// \throws Error{InvalidArgument} if a cooperative grid has more than `resident` blocks
void checkResident(const Description& device, const LoadedKernel& module, const LaunchShape& shape,
                   uint64_t resident);

/// Waits until `event` has happened: first by polling, for short kernels, then with growing pauses.
/// Returns the driver's status; kNotReady if `timeoutSeconds` (0: none) have passed.
Status waitFor(const Driver& driver, EventHandle event, double timeoutSeconds);

} // namespace mneme::device::gpu
