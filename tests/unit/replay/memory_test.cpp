#include <doctest/doctest.h>

#include "runtime/core/base/error.h"
#include "runtime/devices/device.h"
#include "runtime/replay/build.h"
#include "tests/unit/replay/forwarding_device.h"
#include "tests/unit/replay/kernels.h"
#include "tests/unit/replay/recording_maker.h"

using namespace mneme;
using namespace mneme::test;
using replay::ResultClass;

namespace {

constexpr uint64_t kGlobalsAt = kWindow + (8 << 20);

struct Node {
  uint64_t next;
  uint32_t value;
  uint32_t padding;
};

RecordingPlan globalsPlan(uint64_t globalsAt) {
  RecordingPlan plan{.kernel = "globals", .ir = kGlobals};
  plan.addGlobal("counter", globalsAt, bytesOfOne(30), bytesOfOne(33));
  plan.addGlobal("value", globalsAt + 16, bytesOfOne(99), bytesOfOne(99));
  plan.addGlobal("link", globalsAt + 32, bytesOfOne(globalsAt + 16), bytesOfOne(globalsAt + 16));
  plan.addGlobal("limit", globalsAt + 64, bytesOfOne(3), bytesOfOne(3));
  plan.addRegion(kScaleOut, bytesOfOne(0), bytesOfOne(99));
  plan.addPointer("out", kScaleOut);
  return plan;
}

} // namespace

TEST_CASE("device globals are restored, visible to the kernel and verified") {
  const replay::Result result = replayOnce(globalsPlan(kGlobalsAt));
  CHECK(result.error == "");
  CHECK(result.resultClass == ResultClass::Exact);
}

TEST_CASE("where loading places no globals, the compiler is told their addresses") {
  TemporaryDirectory directory;
  const auto record =
      artifact::KernelRecord::load(writeRecording(directory.path(), globalsPlan(kGlobalsAt)));
  const compile::Request request = replay::makeRequest(
      record, {bytesOfText(kGlobals)}, {bytesOfOne(kScaleOut)},
      {.name = "sm_90",
       .placedGlobals = {{"counter", kGlobalsAt, 4}, {"link", kGlobalsAt + 32, 8}}},
      {}, {});
  CHECK(request.target == "sm_90");
  REQUIRE(request.placedGlobals.size() == 2);
  CHECK(request.placedGlobals[1].name == "link");
  CHECK(request.placedGlobals[1].address == kGlobalsAt + 32);
}

TEST_CASE("globals that stay in the module get the recorded content there") {
  // The CPU's code keeps its globals whatever the compiler was told: all of them move.
  class LeavesGlobals final : public ForwardingDevice {
  public:
    bool placesGlobalsOnLoad() const override { return false; }
    std::unique_ptr<device::Module> load(std::span<const std::byte> image,
                                         const std::string& kernel,
                                         std::span<const device::GlobalPlacement>) override {
      return ForwardingDevice::load(image, kernel, {});
    }
  };
  TemporaryDirectory directory;
  RecordingPlan plan{.kernel = "globals",
                     .ir =
                         edited(kGlobals, "%v = load i32, ptr %p, align 4", "%v = add i32 0, 99")};
  plan.addGlobal("counter", kGlobalsAt, bytesOfOne(30), bytesOfOne(33));
  plan.addGlobal("limit", kGlobalsAt + 64, bytesOfOne(3), bytesOfOne(3));
  plan.addRegion(kScaleOut, bytesOfOne(0), bytesOfOne(99));
  plan.addPointer("out", kScaleOut);
  {
    replay::Session session(writeRecording(directory.path(), plan), "",
                            std::make_unique<LeavesGlobals>());
    for (int i = 0; i < 2; ++i)
      CHECK(session.run(session.recorded(), {}).resultClass == ResultClass::Exact);
  }
  TemporaryDirectory pointed;
  RecordingPlan toCounter = globalsPlan(kGlobalsAt);
  toCounter.regions[2].before = toCounter.regions[2].after = bytesOfOne(kGlobalsAt);
  replay::Session session(writeRecording(pointed.path(), toCounter), "",
                          std::make_unique<LeavesGlobals>());
  const replay::Result result = session.run(session.recorded(), {});
  CHECK(result.failed);
  CHECK(result.error.find("global 'counter'") != std::string::npos);
  CHECK(result.error.find("memory at 0x610000800020 points to it") != std::string::npos);
}

TEST_CASE("a wrong device global is named") {
  const replay::Result result =
      replayOnce(globalsPlan(kGlobalsAt), edited(kGlobals, "add i32 %c, %l", "sub i32 %c, %l"));
  CHECK(result.resultClass == ResultClass::Wrong);
  REQUIRE(result.mismatches.size() == 1);
  CHECK(result.mismatches[0].region.find("global 'counter'") != std::string::npos);
  CHECK(result.mismatches[0].address == kGlobalsAt);
}

TEST_CASE("pointers inside buffers lead to other buffers") {
  const uint64_t first = kWindow, second = kWindow + 4096, third = kWindow + (64 << 20);
  RecordingPlan plan{.kernel = "graph", .ir = kGraph};
  plan.addRegion(first, bytesOfOne(Node{second + 16, 1, 0}), bytesOfOne(Node{second + 16, 1, 0}));
  const std::vector<Node> pair = {{0, 1000, 0}, {third, 20, 0}};
  plan.addRegion(second, bytesOf(pair), bytesOf(pair));
  plan.addRegion(third, bytesOfOne(Node{0, 300, 0}), bytesOfOne(Node{0, 300, 0}));
  plan.addRegion(kScaleOut, bytesOfOne(0), bytesOfOne(321));
  plan.addPointer("head", first);
  plan.addPointer("out", kScaleOut);
  CHECK(replayOnce(plan).resultClass == ResultClass::Exact);
}

/// Addresses that a replay in this process is refused.
class TakenAddresses {
public:
  uint64_t begin() const { return begin_; }
  ~TakenAddresses() { device_->release(begin_, device_->granularity()); }

private:
  std::unique_ptr<device::Device> device_ = device::openDevice("cpu");
  uint64_t begin_ = device_->reserve(0, device_->granularity());
};

TEST_CASE("globals whose place is taken move, and what points to them with them") {
  const TakenAddresses taken;
  CHECK(replayOnce(globalsPlan(taken.begin())).resultClass == ResultClass::Exact);
}

TEST_CASE("host memory whose place is taken moves, and what points to it with it") {
  const TakenAddresses taken;
  const uint64_t first = taken.begin() + 64, second = first + 4096, head = kWindow;
  RecordingPlan plan{.kernel = "graph", .ir = kGraph};
  const Bytes table = bytesOfOne(Node{first, 1, 0});
  const Bytes one = bytesOfOne(Node{second + 16, 20, 0});
  const Bytes two = bytesOf(std::vector<Node>{{0, 1000, 0}, {0, 300, 0}});
  plan.addRegion(head, table, table);
  plan.addRegion(first, one, one);
  plan.regions.back().region.kind = artifact::RegionKind::HostPinned;
  plan.addRegion(second, two, two);
  plan.regions.back().region.kind = artifact::RegionKind::HostPinned;
  plan.addRegion(kScaleOut, bytesOfOne(0), bytesOfOne(321));
  plan.addPointer("head", head);
  plan.addPointer("out", kScaleOut);
  TemporaryDirectory directory;
  const auto record = writeRecording(directory.path(), plan);
  for (const uint64_t goldenBytes : {UINT64_MAX, uint64_t{0}}) {
    replay::Session session(record, "", "cpu", {.goldenBytesLimit = goldenBytes});
    CHECK(session.run(session.recorded(), {}).resultClass == ResultClass::Exact);
  }
}

TEST_CASE("an address of moved memory that the kernel writes is the expected one") {
  const TakenAddresses taken;
  // Leaves the address it was given in the memory that was given.
  const std::string keep = kHead + R"(
define ptx_kernel void @keep(ptr %block, ptr %out) {
  store ptr %block, ptr %out, align 8
  %end = getelementptr i8, ptr %block, i64 16
  %slot = getelementptr i8, ptr %out, i64 8
  store ptr %end, ptr %slot, align 8
  ret void
}
)";
  RecordingPlan plan{.kernel = "keep", .ir = keep};
  const std::vector<uint64_t> nothing(2), kept = {taken.begin(), taken.begin() + 16};
  plan.addRegion(taken.begin(), bytesOf(std::vector<uint64_t>(2)), bytesOf(nothing));
  plan.regions.back().region.kind = artifact::RegionKind::HostPinned;
  plan.addRegion(kScaleOut, bytesOf(nothing), bytesOf(kept));
  plan.addPointer("block", taken.begin());
  plan.addPointer("out", kScaleOut);
  TemporaryDirectory directory;
  const auto record = writeRecording(directory.path(), plan);
  for (const uint64_t goldenBytes : {UINT64_MAX, uint64_t{0}}) {
    replay::Session session(record, "", "cpu", {.goldenBytesLimit = goldenBytes});
    CHECK(session.run(session.recorded(), {}).resultClass == ResultClass::Exact);
  }
}

TEST_CASE(
    "where memory moved, its recorded address is wrong, though it hashes as it was recorded") {
  const TakenAddresses taken;
  // Copies the address that it finds in a table.
  const std::string copy = kHead + R"(
define ptx_kernel void @copy(ptr %table, ptr %out) {
  %address = load i64, ptr %table, align 8
  store i64 %address, ptr %out, align 8
  ret void
}
)";
  const std::string recorded = std::to_string(taken.begin());
  RecordingPlan plan{.kernel = "copy", .ir = copy};
  const Bytes block = bytesOf(std::vector<uint64_t>(2)), address = bytesOfOne(taken.begin());
  plan.addRegion(taken.begin(), block, block);
  plan.regions.back().region.kind = artifact::RegionKind::HostPinned;
  plan.addRegion(kScaleIn, address, address);
  plan.addRegion(kScaleOut, bytesOfOne(uint64_t{0}), address);
  plan.addPointer("table", kScaleIn);
  plan.addPointer("out", kScaleOut);
  TemporaryDirectory directory;
  const auto record = writeRecording(directory.path(), plan);
  const std::string inOutput =
      edited(copy, "store i64 %address, ptr %out", "store i64 " + recorded + ", ptr %out");
  const std::string inTable =
      edited(copy, "  ret void", "  store i64 " + recorded + ", ptr %table, align 8\n  ret void");
  for (const uint64_t goldenBytes : {UINT64_MAX, uint64_t{0}}) {
    CAPTURE(goldenBytes);
    replay::Session session(record, "", "cpu", {.goldenBytesLimit = goldenBytes});
    for (const std::string& wrong : {inOutput, inTable}) {
      CHECK(session.run(session.recorded(), {.ir = bytesOfText(wrong)}).resultClass ==
            ResultClass::Wrong);
      CHECK(session.run(session.recorded(), {}).resultClass == ResultClass::Exact);
    }
  }
}

TEST_CASE("regions of many chunks, sparse and dense, come back whole") {
  const uint32_t count = 3 << 20;
  RecordingPlan plan = scalePlan(count);
  std::fill(plan.regions[0].before.begin() + (1 << 20), plan.regions[0].before.begin() + (5 << 20),
            std::byte{0});
  plan.regions[0].after = plan.regions[0].before;
  std::fill(plan.regions[1].after.begin() + (1 << 20), plan.regions[1].after.begin() + (5 << 20),
            std::byte{0});
  // Both regions are larger than the distance that scalePlan() puts between them.
  const uint64_t far = kWindow + (256 << 20);
  plan.regions[1].region.address = far;
  plan.values[1] = bytesOfOne(far);
  CHECK(replayOnce(plan).resultClass == ResultClass::Exact);
}

TEST_CASE("without device copies everything is read from the snapshots") {
  TemporaryDirectory directory;
  const auto record = writeRecording(directory.path(), scalePlan());
  const std::string wrong = edited(kScale, "fmul float %x, %factor", "fadd float %x, %factor");
  for (const uint64_t limit : {uint64_t{0}, uint64_t{4 << 20}, uint64_t{8192}}) {
    replay::Session session(record, "", testDevice(), {.goldenBytesLimit = limit});
    CAPTURE(limit);
    CHECK(session.run(session.recorded(), {}).resultClass == ResultClass::Exact);
    const replay::Result result = session.run(session.recorded(), {.ir = bytesOfText(wrong)});
    CHECK(result.resultClass == ResultClass::Wrong);
    REQUIRE(result.mismatches.size() == 1);
    CHECK(result.mismatches[0].differing > 900);
    CHECK(session.run(session.recorded(), {}).resultClass == ResultClass::Exact);
  }
}

TEST_CASE("memory the recorded application took is refused with a sentence when it is taken here") {
  const auto device = device::openDevice("cpu");
  device->reserve(kScaleIn, device->granularity());
  TemporaryDirectory directory;
  const auto record = writeRecording(directory.path(), scalePlan());
  try {
    replay::Session session(record, "", "cpu");
    FAIL("opened at a taken address");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::AddressUnavailable);
    CHECK(std::string(error.what()).find("fresh process") != std::string::npos);
  }
  device->release(kScaleIn, device->granularity());
}
