#include <doctest/doctest.h>

#include "runtime/core/base/error.h"
#include "tests/unit/replay/forwarding_device.h"
#include "tests/unit/replay/kernels.h"
#include "tests/unit/replay/recording_maker.h"

using namespace mneme;
using namespace mneme::test;
using replay::ResultClass;

namespace {

/// The CPU device, with a driver that gives up after a fault as those of GPUs do, and with copies
/// that need their source until they are waited for.
class FragileDevice final : public ForwardingDevice {
public:
  explicit FragileDevice(uint32_t launchesUntilFault) : launchesLeft_(launchesUntilFault) {}

  void copyToHost(void* destination, uint64_t source, size_t sizeBytes) override {
    prepare();
    ForwardingDevice::copyToHost(destination, source, sizeBytes);
  }
  void copyToDevice(uint64_t destination, const void* source, size_t sizeBytes) override {
    prepare();
    ForwardingDevice::copyToDevice(destination, source, sizeBytes);
  }
  uint64_t startCopyToDevice(uint64_t destination, device::StagingBuffer& source,
                             size_t sizeBytes) override {
    copies_.push_back({destination, &source, sizeBytes});
    return started_++;
  }
  void waitForCopy(uint64_t ticket) override { finishCopies(ticket); }
  void restore(std::span<const device::CopyRange> ranges) override {
    prepare();
    ForwardingDevice::restore(ranges);
  }
  std::vector<device::CompareReport>
  compare(std::span<const device::CompareRequest> requests) override {
    prepare();
    return ForwardingDevice::compare(requests);
  }
  uint64_t launch(device::Module& module, const device::LaunchShape& shape, void* const* args,
                  double timeoutSeconds) override {
    prepare();
    if (launchesLeft_ == 0) {
      isUsable_ = false;
      throw Error(ErrorCode::DeviceFailed, "the kernel accessed an illegal address");
    }
    --launchesLeft_;
    return ForwardingDevice::launch(module, shape, args, timeoutSeconds);
  }
  bool isUsable() const override { return isUsable_; }
  const char* timerName() const override { return "events"; }

private:
  struct Copy {
    uint64_t destination;
    device::StagingBuffer* source;
    size_t sizeBytes;
  };
  void prepare() {
    if (!isUsable_)
      throw Error(ErrorCode::DeviceFailed, "the driver has given up");
    finishCopies(UINT64_MAX);
  }
  void finishCopies(uint64_t last) {
    for (; !copies_.empty() && finished_ <= last; ++finished_) {
      const Copy copy = copies_.front();
      copies_.erase(copies_.begin());
      ForwardingDevice::copyToDevice(copy.destination, copy.source->bytes().data(), copy.sizeBytes);
    }
  }

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
