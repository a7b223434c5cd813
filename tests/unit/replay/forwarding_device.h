// The CPU device behind virtual functions, for tests that change some of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/devices/device.h"

namespace mneme::test {

class ForwardingDevice : public device::Device {
public:
  const device::Description& description() const override { return real_->description(); }
  uint64_t granularity() const override { return real_->granularity(); }
  uint64_t reserve(uint64_t address, uint64_t sizeBytes) override {
    return real_->reserve(address, sizeBytes);
  }
  void release(uint64_t address, uint64_t sizeBytes) noexcept override {
    real_->release(address, sizeBytes);
  }
  void map(uint64_t address, uint64_t sizeBytes) override { real_->map(address, sizeBytes); }
  void unmap(uint64_t address, uint64_t sizeBytes) noexcept override {
    real_->unmap(address, sizeBytes);
  }
  uint64_t guardPageBytes() const override { return real_->guardPageBytes(); }
  void mapGuard(uint64_t address, uint64_t sizeBytes) override {
    real_->mapGuard(address, sizeBytes);
  }
  void copyToHost(void* destination, uint64_t source, size_t sizeBytes) override {
    real_->copyToHost(destination, source, sizeBytes);
  }
  void copyToDevice(uint64_t destination, const void* source, size_t sizeBytes) override {
    real_->copyToDevice(destination, source, sizeBytes);
  }
  void hashPages(uint64_t address, uint64_t sizeBytes, uint64_t pageBytes,
                 std::span<Hash128> hashes) override {
    real_->hashPages(address, sizeBytes, pageBytes, hashes);
  }
  std::vector<uint64_t> diffPages(uint64_t first, uint64_t second, uint64_t sizeBytes,
                                  uint64_t pageBytes) override {
    return real_->diffPages(first, second, sizeBytes, pageBytes);
  }
  void restore(std::span<const device::CopyRange> ranges) override { real_->restore(ranges); }
  std::vector<device::CompareReport>
  compare(std::span<const device::CompareRequest> requests) override {
    return real_->compare(requests);
  }
  std::unique_ptr<device::Module>
  load(std::span<const std::byte> image, const std::string& kernel,
       std::span<const device::GlobalPlacement> placements) override {
    return real_->load(image, kernel, placements);
  }
  uint64_t launch(device::Module& module, const device::LaunchShape& shape, void* const* args,
                  double timeoutSeconds) override {
    return real_->launch(module, shape, args, timeoutSeconds);
  }
  bool isUsable() const override { return real_->isUsable(); }
  void flushCaches() override { real_->flushCaches(); }
  const char* timerName() const override { return real_->timerName(); }

private:
  std::unique_ptr<device::Device> real_ = device::openDevice("cpu");
};

} // namespace mneme::test
