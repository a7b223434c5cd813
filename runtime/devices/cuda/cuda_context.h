// Room devices/cuda: the primary context of one GPU.
#pragma once

#include "runtime/devices/cuda/cuda_driver.h"
#include "runtime/devices/cuda/device_part.h"
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

  /// Puts a stream in a part of the GPU (device_part.h) in place of ours, if the driver makes one.
  /// Nothing may run in ours. Returns how many multiprocessors the stream has, or 0: all.
  uint32_t usePart(uint32_t multiprocessors);

  const Driver& driver() const noexcept { return static_cast<const Driver&>(driver_); }
  int attribute(CUdevice_attribute attribute) const;

private:
  DevicePart part_; ///< empty: the whole GPU
};

} // namespace mneme::device::cuda
