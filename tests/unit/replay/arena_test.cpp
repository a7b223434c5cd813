// Recordings of large memory of which a launch uses little, where the device has no room for a
// copy of it.
#include <doctest/doctest.h>

#include <cstring>

#include "tests/unit/replay/forwarding_device.h"
#include "tests/unit/replay/kernels.h"
#include "tests/unit/replay/recording_maker.h"

using namespace mneme;
using namespace mneme::test;
using replay::ResultClass;

namespace {

constexpr size_t kArenaBytes = 96 << 20, kOutAt = 1 << 20, kOtherAt = 50 << 20;

/// scalePlan() in one region, which is nearly all zero.
RecordingPlan arenaPlan() {
  const RecordingPlan small = scalePlan();
  Bytes before(kArenaBytes), after;
  const auto put = [](Bytes& arena, size_t at, const Bytes& bytes) {
    std::memcpy(arena.data() + at, bytes.data(), bytes.size());
  };
  put(before, 0, small.regions[0].before);
  put(before, kOtherAt, bytesOf(std::vector<float>(6, 1.5f)));
  after = before;
  put(after, kOutAt, small.regions[1].after);
  put(before, kOutAt, small.regions[1].before);
  RecordingPlan plan = small;
  plan.regions.clear();
  plan.addRegion(kWindow, before, after);
  plan.values[1] = bytesOfOne(kWindow + kOutAt);
  return plan;
}

/// What crosses the bus.
struct Traffic {
  uint64_t toHost = 0, toDevice = 0;
};
class MeasuredDevice final : public ForwardingDevice {
public:
  explicit MeasuredDevice(Traffic& traffic) : traffic_(traffic) {}
  void copyToHost(void* destination, uint64_t source, size_t sizeBytes) override {
    traffic_.toHost += sizeBytes;
    ForwardingDevice::copyToHost(destination, source, sizeBytes);
  }
  void copyToDevice(uint64_t destination, const void* source, size_t sizeBytes) override {
    traffic_.toDevice += sizeBytes;
    ForwardingDevice::copyToDevice(destination, source, sizeBytes);
  }

private:
  Traffic& traffic_;
};

} // namespace

TEST_CASE("a large arena costs what a launch uses of it") {
  TemporaryDirectory directory;
  const auto record = writeRecording(directory.path(), arenaPlan());
  const std::string wrong = edited(kScale, "fmul float %x, %factor", "fadd float %x, %factor");
  const std::string stray = edited(kScale, "store float %y, ptr %to, align 4",
                                   "store float %y, ptr %to, align 4\n"
                                   "  %far = getelementptr i8, ptr %in, i64 52428800\n"
                                   "  store float %y, ptr %far, align 4\n"
                                   "  %zero = getelementptr i8, ptr %in, i64 83886080\n"
                                   "  store float %y, ptr %zero, align 4");
  for (const uint64_t limit : {uint64_t{0}, uint64_t{4 << 20}}) {
    CAPTURE(limit);
    Traffic traffic;
    replay::Session session(record, "", std::make_unique<MeasuredDevice>(traffic),
                            {.goldenBytesLimit = limit});
    CHECK(session.run(session.recorded(), {}).resultClass == ResultClass::Exact);
    CHECK(session.run(session.recorded(), {.ir = bytesOfText(wrong)}).resultClass ==
          ResultClass::Wrong);
    const replay::Result result = session.run(session.recorded(), {.ir = bytesOfText(stray)});
    CHECK(result.resultClass != ResultClass::Exact);
    CHECK(session.run(session.recorded(), {}).resultClass == ResultClass::Exact);
    CHECK(traffic.toHost < (8 << 20));
    CHECK(traffic.toDevice < (8 << 20));
  }
}

TEST_CASE("an arena is compared by its tolerances, whatever they need to see") {
  TemporaryDirectory directory;
  const auto record = writeRecording(directory.path(), arenaPlan());
  const std::string slightly = edited(kScale, "fmul float %x, %factor",
                                      "fmul float %x, 0x400C000080000000"); // 3.5 + 2^-22
  Traffic traffic;
  replay::Session session(record, "", std::make_unique<MeasuredDevice>(traffic),
                          {.goldenBytesLimit = 0});
  replay::ToleranceRule rule{
      .type = device::DataType::F32, .kind = device::ThresholdKind::Relative, .threshold = 1e-5};
  for (const device::Norm norm : {device::Norm::None, device::Norm::L2}) {
    rule.norm = norm;
    CAPTURE(int(norm));
    rule.threshold = 1e-5;
    CHECK(session.run(session.recorded(), {.ir = bytesOfText(slightly), .tolerances = {rule}})
              .resultClass == ResultClass::WithinTolerance);
    rule.threshold = 1e-9;
    CHECK_FALSE(session.run(session.recorded(), {.ir = bytesOfText(slightly), .tolerances = {rule}})
                    .verified);
  }
}
