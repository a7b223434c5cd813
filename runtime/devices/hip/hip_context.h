// Room devices/hip: an AMD GPU in use.
#pragma once

#include "runtime/devices/gpu/gpu_context.h"
#include "runtime/devices/hip/hip_driver.h"

namespace mneme::device::hip {

class Context final : public gpu::Context {
public:
  /// `ordinal` is the index of a GPU that this process can see. \throws Error{BackendUnavailable}
  explicit Context(int ordinal);
  /// Never waits for a kernel that hangs; in that case the resources are released when the process
  /// ends.
  ~Context() override;

  const Driver& driver() const noexcept { return static_cast<const Driver&>(driver_); }
  /// Returns 0 if this ROCm does not know the attribute.
  int attribute(hipDeviceAttribute_t attribute) const;
};

} // namespace mneme::device::hip
