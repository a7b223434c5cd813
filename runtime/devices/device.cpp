#include "runtime/devices/device.h"

#include <vector>

#include "runtime/core/base/error.h"

namespace mneme::device {

namespace {

class PageableStaging final : public StagingBuffer {
public:
  explicit PageableStaging(size_t sizeBytes) : bytes_(sizeBytes) {}
  std::span<std::byte> bytes() override { return bytes_; }

private:
  std::vector<std::byte> bytes_;
};

class RestoreOfRanges final : public PreparedRestore {
public:
  RestoreOfRanges(Device& device, std::vector<CopyRange> ranges)
      : device_(device), ranges_(std::move(ranges)) {}
  void run() override { device_.restore(ranges_); }

private:
  Device& device_;
  std::vector<CopyRange> ranges_;
};

} // namespace

void Device::mapGuard(uint64_t, uint64_t) {
  throw Error(ErrorCode::Unsupported, "the device has no guard page");
}

std::unique_ptr<CounterPasses> Device::startCounters(const std::vector<std::string>&) {
  throw Error(ErrorCode::Unsupported, "device " + description().id +
                                          " has no hardware counters that mneme reads; NVIDIA GPUs "
                                          "have");
}

std::vector<uint64_t> Device::launchSeries(Module& module, const LaunchShape& shape,
                                           void* const* args, double timeoutSeconds, uint32_t count,
                                           const std::function<void()>& restore) {
  std::vector<uint64_t> times;
  for (uint32_t i = 0; i < count; ++i) {
    restore();
    times.push_back(launch(module, shape, args, timeoutSeconds));
  }
  return times;
}

std::unique_ptr<PreparedRestore> Device::prepareRestore(std::vector<CopyRange> ranges) {
  return std::make_unique<RestoreOfRanges>(*this, std::move(ranges));
}

std::unique_ptr<StagingBuffer> Device::makeStaging(size_t sizeBytes) {
  return std::make_unique<PageableStaging>(sizeBytes);
}

uint64_t Device::startCopyToDevice(uint64_t destination, StagingBuffer& source, size_t sizeBytes) {
  copyToDevice(destination, source.bytes().data(), sizeBytes);
  return 0;
}

void Device::waitForCopy(uint64_t) {}

} // namespace mneme::device
