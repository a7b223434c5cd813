// Room devices/gpu: one loaded image with one kernel; the parts that all vendors share.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/devices/device.h"

namespace mneme::device::gpu {

class LoadedKernel : public Module {
public:
  std::vector<ModuleGlobal> globals() const override { return globals_; }
  KernelAttributes attributes() const override { return attributes_; }
  std::optional<std::vector<uint64_t>> argumentSizes() const override { return argumentSizes_; }
  const std::string& kernel() const noexcept { return kernel_; }

  /// The last shape found possible.
  std::optional<LaunchShape> accepted;
  /// As LaunchShape has it: what the driver knows.
  uint32_t sharedCarveout = 0;
  CacheConfig cacheConfig = CacheConfig::None;

protected:
  explicit LoadedKernel(std::string kernel) : kernel_(std::move(kernel)) {}

  std::string kernel_;
  KernelAttributes attributes_;
  std::vector<ModuleGlobal> globals_;
  std::optional<std::vector<uint64_t>> argumentSizes_;
};

} // namespace mneme::device::gpu
