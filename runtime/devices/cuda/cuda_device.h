// Room devices/cuda: an NVIDIA GPU as a Device.
#pragma once

#include "runtime/devices/cuda/counters.h"
#include "runtime/devices/cuda/cuda_context.h"
#include "runtime/devices/cuda/cupti.h"
#include "runtime/devices/gpu/gpu_device.h"

namespace mneme::device::cuda {

class CudaDevice final : public gpu::GpuDevice {
public:
  /// \throws Error{BackendUnavailable} naming what is missing
  explicit CudaDevice(int ordinal);

  std::unique_ptr<Module> load(std::span<const std::byte> image, const std::string& kernel,
                               std::span<const GlobalPlacement> placements) override;
  std::vector<uint64_t> launchSeries(Module& module, const LaunchShape& shape, void* const* args,
                                     double timeoutSeconds, uint32_t count,
                                     const std::function<void()>& restore) override;
  void raiseLimits(const ContextLimits& limits) override;
  uint32_t usePart(uint32_t multiprocessors) override;
  std::optional<AddressRange> heap(uint64_t sizeBytes) override;
  std::unique_ptr<TextureObjects> makeTextures(std::span<const TextureObject> wanted) override;
  std::unique_ptr<CounterPasses> startCounters(const std::vector<std::string>& names) override;
  const char* timerName() const override;

private:
  /// Starts CUPTI before the context so that it observes the context from the beginning.
  CudaDevice(Cupti* cupti, int ordinal);
  void prepareLaunch(gpu::LoadedKernel& module, const LaunchShape& shape) override;
  void startLaunch(const gpu::LoadedKernel& module, const LaunchShape& shape,
                   void* const* args) override;
  uint64_t elapsedNs(const LaunchShape& shape) override;
  class Counting;
  Context& context() { return static_cast<Context&>(*context_); }

  Cupti* cupti_; ///< null when times come from events
  std::unique_ptr<CounterPlan> counterPlan_;
  std::optional<AddressRange> heap_; ///< nothing: not asked yet
  bool isCounting_ = false;
  bool canSeries_ = true;
};

} // namespace mneme::device::cuda
