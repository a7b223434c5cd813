// Room replay: where text of replayed kernels goes.
#pragma once

namespace mneme::replay {

/// While one lives, what the process writes to its standard output goes to standard error: a kernel
/// prints once per launch, which is nothing the caller's standard output was meant for. Devices
/// write to the file descriptor themselves, so the descriptor is what is redirected. May nest and
/// overlap across threads; does nothing where a descriptor is closed.
class KernelOutput {
public:
  KernelOutput() noexcept;
  ~KernelOutput();
  KernelOutput(const KernelOutput&) = delete;
  KernelOutput& operator=(const KernelOutput&) = delete;
};

} // namespace mneme::replay
