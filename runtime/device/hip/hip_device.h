// Room device/hip: an AMD GPU as a Device.
#pragma once

#include "runtime/device/gpu/gpu_device.h"
#include "runtime/device/hip/context.h"

namespace mneme::device::hip {

/// A kernel that touches foreign memory ends the process: ROCm's own runtime aborts it.
class HipDevice final : public gpu::GpuDevice {
public:
  /// \throws Error{BackendUnavailable} naming what is missing
  explicit HipDevice(int ordinal);

  std::unique_ptr<Module> load(std::span<const std::byte> image, const std::string& kernel,
                               std::span<const GlobalPlacement> placements) override;

private:
  void prepareLaunch(gpu::LoadedKernel& module, const LaunchShape& shape) override;
  void startLaunch(const gpu::LoadedKernel& module, const LaunchShape& shape,
                   void* const* args) override;
  uint64_t cacheBytes() const override;
  void checkCooperative(const gpu::LoadedKernel& module, const LaunchShape& shape);
  Context& context() { return static_cast<Context&>(*context_); }
};

} // namespace mneme::device::hip
