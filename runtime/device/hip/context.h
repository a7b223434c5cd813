// Room device/hip: one AMD GPU in use.
#pragma once

#include "runtime/device/gpu/context.h"
#include "runtime/device/hip/driver.h"

namespace mneme::device::hip {

class Context final : public gpu::Context {
public:
  /// `ordinal` counts the GPUs this process sees. \throws Error{BackendUnavailable}
  explicit Context(int ordinal);
  /// Never waits for a kernel that hangs: then everything is left to the end of the process.
  ~Context() override;

  const Driver& driver() const noexcept { return static_cast<const Driver&>(driver_); }
  /// 0 where this ROCm does not know the attribute.
  int attribute(hipDeviceAttribute_t attribute) const;
};

} // namespace mneme::device::hip
