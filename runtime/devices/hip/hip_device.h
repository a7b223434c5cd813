// Room devices/hip: an AMD GPU as a Device.
#pragma once

#include "runtime/devices/gpu/gpu_device.h"
#include "runtime/devices/hip/hip_context.h"

namespace mneme::device::hip {

/// If a kernel accesses memory outside its allocations, ROCm's runtime aborts the process.
class HipDevice final : public gpu::GpuDevice {
public:
  /// \throws Error{BackendUnavailable} naming what is missing
  explicit HipDevice(int ordinal);

  std::unique_ptr<Module> load(std::span<const std::byte> image, const std::string& kernel,
                               std::span<const GlobalPlacement> placements) override;
  /// Returns "dispatch" if the last launch's time is that of the kernel alone, otherwise "events".
  const char* timerName() const override { return takesOwnTime_ ? "dispatch" : "events"; }

private:
  void prepareLaunch(gpu::LoadedKernel& module, const LaunchShape& shape) override;
  void startLaunch(const gpu::LoadedKernel& module, const LaunchShape& shape,
                   void* const* args) override;
  void startTimedLaunch(const gpu::LoadedKernel& module, const LaunchShape& shape,
                        void* const* args) override;
  void checkStart(hipError_t result, const gpu::LoadedKernel& module, const LaunchShape& shape);
  uint64_t cacheBytes() const override;
  void checkCooperative(const gpu::LoadedKernel& module, const LaunchShape& shape);
  Context& context() { return static_cast<Context&>(*context_); }

  bool takesOwnTime_;
};

} // namespace mneme::device::hip
