#include <doctest/doctest.h>

#include "tests/unit/replay/forwarding_device.h"
#include "tests/unit/replay/kernels.h"
#include "tests/unit/replay/recording_maker.h"

using namespace mneme;
using namespace mneme::test;
using replay::ResultClass;

namespace {

/// Only where it finds zeros, kScale writes.
const std::string kScaleZeros = edited(kScale, "  store float %y, ptr %to, align 4\n",
                                       "  %old = load float, ptr %to, align 4\n"
                                       "  %isZero = fcmp oeq float %old, 0.0\n"
                                       "  %z = select i1 %isZero, float %y, float %old\n"
                                       "  store float %z, ptr %to, align 4\n");

/// kScale adds to what it finds.
const std::string kScaleMore = edited(kScale, "  store float %y, ptr %to, align 4\n",
                                      "  %old = load float, ptr %to, align 4\n"
                                      "  %z = fadd float %y, %old\n"
                                      "  store float %z, ptr %to, align 4\n");

class RestoreCountingDevice final : public ForwardingDevice {
public:
  explicit RestoreCountingDevice(int& count) : count_(count) {}
  void restore(std::span<const device::CopyRange> ranges) override {
    ++count_;
    ForwardingDevice::restore(ranges);
  }

private:
  int& count_;
};

} // namespace

TEST_CASE("a kernel that does not read what it changes is measured in place") {
  const replay::Result result = replayOnce(scalePlan(), "", {.probesInPlace = true});
  CHECK(result.error == "");
  CHECK(result.resultClass == ResultClass::Exact);
  CHECK(result.inPlaceNs.size() == 5);
  CHECK(result.execNs.size() == 5);
  CHECK(toJson(result).find(R"("in_place_ns":[)") != std::string::npos);
}

TEST_CASE("a kernel that reads what it changes is not, and leaves no trace") {
  for (const std::string& ir : {kScaleZeros, kScaleMore}) {
    TemporaryDirectory directory;
    RecordingPlan plan = scalePlan();
    plan.regions[1].before.assign(plan.regions[1].before.size(), std::byte{});
    replay::Session session(writeRecording(directory.path(), plan), "", testDevice());
    const Bytes bytes = bytesOfText(ir);
    const replay::Result probed =
        session.run(session.recorded(), {.probesInPlace = true, .ir = bytes});
    CHECK(probed.resultClass == ResultClass::Exact);
    CHECK(probed.inPlaceNs.empty());
    CHECK(session.run(session.recorded(), {.ir = bytes}).resultClass == ResultClass::Exact);
  }
}

TEST_CASE("in place, memory is restored before the verified launch only") {
  for (const bool inSeries : {false, true}) {
    TemporaryDirectory directory;
    int restores = 0;
    replay::Session session(writeRecording(directory.path(), scalePlan()), "",
                            std::make_unique<RestoreCountingDevice>(restores));
    session.run(session.recorded(), {.iterations = 4, .inSeries = inSeries, .inPlace = true});
    const int first = restores;
    const replay::Result result =
        session.run(session.recorded(), {.iterations = 4, .inSeries = inSeries, .inPlace = true});
    CHECK(result.resultClass == ResultClass::Exact);
    CHECK(result.iterationsUsed == 4);
    CHECK(restores == first + 1);
  }
}
