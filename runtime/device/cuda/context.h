// Room device/cuda: the primary context of one GPU.
#pragma once

#include "runtime/device/cuda/driver.h"
#include "runtime/device/gpu/context.h"

namespace mneme::device::cuda {

using gpu::ContextScope;

/// Retained, with a stream that waits for no other one.
class Context final : public gpu::Context {
public:
  /// `ordinal` counts the GPUs this process sees. \throws Error{BackendUnavailable}
  explicit Context(int ordinal);
  /// Never waits for a kernel that hangs: then everything is left to the end of the process.
  ~Context() override;

  const Driver& driver() const noexcept { return static_cast<const Driver&>(driver_); }
  int attribute(CUdevice_attribute attribute) const;
};

} // namespace mneme::device::cuda
