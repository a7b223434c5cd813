// Room replay: redirects the output of replayed kernels.
#pragma once

namespace mneme::replay {

/// While one lives, output of the process to standard output goes to standard error: a kernel
/// prints in each of its launches, which must not mix with the caller's output. The file descriptor
/// is redirected, because devices write to it directly. May nest, and overlap across threads. Does
/// nothing if a descriptor is closed.
class KernelOutput {
public:
  KernelOutput() noexcept;
  ~KernelOutput();
  KernelOutput(const KernelOutput&) = delete;
  KernelOutput& operator=(const KernelOutput&) = delete;
};

} // namespace mneme::replay
