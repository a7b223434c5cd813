// Room devices/cuda: the primary context of one GPU.
#pragma once

#include "runtime/devices/cuda/cuda_driver.h"
#include "runtime/devices/gpu/gpu_context.h"

namespace mneme::device::cuda {

using gpu::ContextScope;

/// Retains the primary context and creates a non-blocking stream.
class Context final : public gpu::Context {
public:
  /// `ordinal` is the index of a GPU that this process can see. \throws Error{BackendUnavailable}
  explicit Context(int ordinal);
  /// Never waits for a kernel that hangs; in that case the resources are released when the process
  /// ends.
  ~Context() override;

  const Driver& driver() const noexcept { return static_cast<const Driver&>(driver_); }
  int attribute(CUdevice_attribute attribute) const;
};

} // namespace mneme::device::cuda
