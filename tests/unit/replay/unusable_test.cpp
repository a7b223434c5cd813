#include <doctest/doctest.h>

#include "runtime/base/error.h"
#include "tests/unit/replay/kernels.h"
#include "tests/unit/replay/recording_maker.h"

using namespace mneme;
using namespace mneme::test;
using replay::ResultClass;

namespace {

/// The CPU device, with a driver that gives up after a fault as those of GPUs do, and with copies
/// that need their source until they are waited for.
class FragileDevice final : public device::Device {
public:
  explicit FragileDevice(uint32_t launchesUntilFault) : launchesLeft_(launchesUntilFault) {}

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
  void copyToHost(void* destination, uint64_t source, size_t sizeBytes) override {
    requireUsable();
    finishCopies(UINT64_MAX);
    real_->copyToHost(destination, source, sizeBytes);
  }
  void copyToDevice(uint64_t destination, const void* source, size_t sizeBytes) override {
    requireUsable();
    finishCopies(UINT64_MAX);
    real_->copyToDevice(destination, source, sizeBytes);
  }
  uint64_t startCopyToDevice(uint64_t destination, device::StagingBuffer& source,
                             size_t sizeBytes) override {
    copies_.push_back({destination, &source, sizeBytes});
    return started_++;
  }
  void waitForCopy(uint64_t ticket) override { finishCopies(ticket); }
  void hashPages(uint64_t address, uint64_t sizeBytes, uint64_t pageBytes,
                 std::span<Hash128> hashes) override {
    real_->hashPages(address, sizeBytes, pageBytes, hashes);
  }
  std::vector<uint64_t> diffPages(uint64_t first, uint64_t second, uint64_t sizeBytes,
                                  uint64_t pageBytes) override {
    return real_->diffPages(first, second, sizeBytes, pageBytes);
  }
  void restore(std::span<const device::CopyRange> ranges) override {
    requireUsable();
    finishCopies(UINT64_MAX);
    real_->restore(ranges);
  }
  std::vector<device::CompareReport>
  compare(std::span<const device::CompareRequest> requests) override {
    requireUsable();
    return real_->compare(requests);
  }
  std::unique_ptr<device::Module>
  load(std::span<const std::byte> image, const std::string& kernel,
       std::span<const device::GlobalPlacement> placements) override {
    requireUsable();
    return real_->load(image, kernel, placements);
  }
  uint64_t launch(device::Module& module, const device::LaunchShape& shape, void* const* args,
                  double timeoutSeconds) override {
    requireUsable();
    if (launchesLeft_ == 0) {
      isUsable_ = false;
      throw Error(ErrorCode::DeviceFailed, "the kernel accessed an illegal address");
    }
    --launchesLeft_;
    return real_->launch(module, shape, args, timeoutSeconds);
  }
  bool isUsable() const override { return isUsable_; }
  void flushCaches() override { real_->flushCaches(); }
  const char* timerName() const override { return "events"; }

private:
  struct Copy {
    uint64_t destination;
    device::StagingBuffer* source;
    size_t sizeBytes;
  };
  void requireUsable() const {
    if (!isUsable_)
      throw Error(ErrorCode::DeviceFailed, "the driver has given up");
  }
  void finishCopies(uint64_t last) {
    for (; !copies_.empty() && finished_ <= last; ++finished_) {
      const Copy copy = copies_.front();
      copies_.erase(copies_.begin());
      real_->copyToDevice(copy.destination, copy.source->bytes().data(), copy.sizeBytes);
    }
  }

  std::unique_ptr<device::Device> real_ = device::openDevice("cpu");
  uint32_t launchesLeft_;
  bool isUsable_ = true;
  uint64_t started_ = 0, finished_ = 0;
  std::vector<Copy> copies_;
};

RecordingPlan farPlan(uint32_t count) {
  RecordingPlan plan = scalePlan(count);
  const uint64_t far = kWindow + (256 << 20);
  plan.regions[1].region.address = far;
  plan.values[1] = bytesOfOne(far);
  return plan;
}

} // namespace

TEST_CASE("a device that does not survive a fault fails one replay and says so from then on") {
  TemporaryDirectory directory;
  replay::Session session(writeRecording(directory.path(), scalePlan()), "",
                          std::make_unique<FragileDevice>(8));
  const replay::Result good = session.run(session.recorded(), {});
  CHECK(good.resultClass == ResultClass::Exact);
  CHECK(good.isDeviceUsable);
  CHECK(good.timer == "events");
  const replay::Result fault = session.run(session.recorded(), {});
  CHECK(fault.failed);
  CHECK_FALSE(fault.isDeviceUsable);
  CHECK(fault.error.find("illegal address") != std::string::npos);
  const replay::Result after = session.run(session.recorded(), {});
  CHECK(after.failed);
  CHECK_FALSE(after.isDeviceUsable);
  CHECK(after.error.find("new process") != std::string::npos);
  CHECK(toJson(after).find(R"("device_usable":false)") != std::string::npos);
}

TEST_CASE("staging buffers are not filled again before their copies are done") {
  TemporaryDirectory directory;
  const auto record = writeRecording(directory.path(), farPlan(12 << 20));
  replay::Session session(record, "", std::make_unique<FragileDevice>(100));
  CHECK(session.run(session.recorded(), {.iterations = 1}).resultClass == ResultClass::Exact);
}
