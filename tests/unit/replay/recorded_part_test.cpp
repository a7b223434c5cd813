#include <doctest/doctest.h>

#include <cstdlib>

#include "forwarding_device.h"
#include "runtime/core/base/error.h"
#include "runtime/replay/recorded_part.h"

using namespace mneme;

namespace {

/// A GPU of 132 multiprocessors, which can part multiples of `unit` off.
class Parting final : public test::ForwardingDevice {
public:
  explicit Parting(uint32_t unit = 8, const char* target = "sm_90") : unit_(unit) {
    description_.multiprocessors = 132;
    description_.target = target;
  }
  const device::Description& description() const override { return description_; }
  uint32_t usePart(uint32_t multiprocessors) override {
    const uint32_t count = (multiprocessors + unit_ - 1) / unit_ * unit_;
    return description_.multiprocessors = count < 132 ? count : 132;
  }

private:
  device::Description description_;
  uint32_t unit_;
};

std::string said(Parting&& device, const artifact::DevicePart& part, const char* variable = "") {
  setenv("MNEME_MULTIPROCESSORS", variable, 1);
  struct Unset {
    ~Unset() { unsetenv("MNEME_MULTIPROCESSORS"); }
  } const unset;
  return replay::useRecordedPart(device, part);
}

constexpr artifact::DevicePart kPart{.multiprocessors = 32, .of = 132}, kWhole;

} // namespace

TEST_CASE("a replay runs on as many multiprocessors as the recorded launch") {
  CHECK(said(Parting(), kPart) == "ran on 32 of 132 multiprocessors, as the recorded launch");
  CHECK(
      said(Parting(20), kPart) ==
      "ran on 40 of 132 multiprocessors, the recorded launch on 32: the device has no part of 32");
  CHECK(said(Parting(132), kPart) ==
        "ran on all 132 multiprocessors, the recorded launch on 32: the device has no part of 32");
  CHECK(said(Parting(), kWhole).empty());
  CHECK(said(Parting(8, "cpu"), kPart).empty());
}

TEST_CASE("the user may ask for all multiprocessors, or for a number") {
  CHECK(said(Parting(), kPart, "all") ==
        "ran on all 132 multiprocessors, the recorded launch on 32");
  CHECK(said(Parting(), kPart, "64") ==
        "ran on 64 of 132 multiprocessors, the recorded launch on 32");
  CHECK(said(Parting(), kWhole, "64") == "ran on 64 of 132 multiprocessors");
  CHECK(said(Parting(), kWhole, "all").empty());
  for (const char* wrong : {"0", "half", "8x", "-1"})
    CHECK_THROWS_AS(said(Parting(), kPart, wrong), Error);
}
