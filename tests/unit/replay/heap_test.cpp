// The heap of a GPU, from which kernels allocate, in replays.
#include <doctest/doctest.h>

#include "runtime/replay/trim.h"
#include "tests/unit/replay/forwarding_device.h"
#include "tests/unit/replay/kernels.h"
#include "tests/unit/replay/recording_maker.h"

using namespace mneme;
using namespace mneme::test;
using replay::ResultClass;

namespace {

constexpr AddressRange kHeap = {0x205400000, 1 << 20};
const std::vector<std::string> kUnheld = {"the device's heap"};

struct Node {
  uint64_t next;
  uint32_t value;
  uint32_t padding;
};

/// Has a heap, whose content is its own.
class HeapDevice final : public ForwardingDevice {
public:
  explicit HeapDevice(const AddressRange& heap) : heap_(heap) {
    if (heap.sizeBytes == 0)
      return;
    ForwardingDevice::reserve(heap.begin, heap.sizeBytes);
    ForwardingDevice::map(heap.begin, heap.sizeBytes);
    const std::vector<unsigned char> own(heap.sizeBytes, 0xaa);
    ForwardingDevice::copyToDevice(heap.begin, own.data(), own.size());
  }
  ~HeapDevice() override {
    if (heap_.sizeBytes > 0)
      ForwardingDevice::release(heap_.begin, heap_.sizeBytes);
  }
  std::optional<AddressRange> heap(uint64_t) override { return heap_; }

private:
  AddressRange heap_;
};

/// A list through the heap, of which most is zero.
RecordingPlan listPlan() {
  const uint64_t second = kHeap.begin + (300 << 10), third = kWindow;
  Bytes heap(kHeap.sizeBytes);
  const auto put = [&](uint64_t address, const Node& node) {
    std::memcpy(&heap[address - kHeap.begin], &node, sizeof node);
  };
  put(kHeap.begin + 64, {second, 1, 0});
  put(second, {third, 20, 0});
  RecordingPlan plan{.kernel = "graph", .ir = kGraph};
  plan.heap = kHeap;
  plan.addRegion(kHeap.begin, heap, heap);
  plan.addRegion(third, bytesOfOne(Node{0, 300, 0}), bytesOfOne(Node{0, 300, 0}));
  plan.addRegion(kScaleOut, bytesOfOne(0), bytesOfOne(321));
  plan.addPointer("head", kHeap.begin + 64);
  plan.addPointer("out", kScaleOut);
  return plan;
}

replay::Result runOn(const RecordingPlan& plan, std::unique_ptr<device::Device> device,
                     const replay::SessionOptions& options = {}) {
  TemporaryDirectory directory;
  replay::Session session(writeRecording(directory.path(), plan), "", std::move(device), options);
  const replay::Result first = session.run(session.recorded(), {});
  CHECK(session.run(session.recorded(), {}).resultClass == first.resultClass);
  return first;
}

} // namespace

TEST_CASE("launches find the heap as it was recorded, where it was and elsewhere") {
  for (const uint64_t begin : {kHeap.begin, kHeap.begin + (64 << 20)})
    for (const uint64_t golden : {UINT64_MAX, uint64_t{0}}) {
      CAPTURE(begin);
      CAPTURE(golden);
      const replay::Result result =
          runOn(listPlan(), std::make_unique<HeapDevice>(AddressRange{begin, kHeap.sizeBytes}),
                {.goldenBytesLimit = golden});
      CHECK(result.error == "");
      CHECK(result.resultClass == ResultClass::Exact);
      CHECK(result.unrecordedReads.empty());
    }
}

TEST_CASE("what launches write to the heap is compared, and restored for the next") {
  RecordingPlan plan = scalePlan();
  plan.heap = {kHeap.begin, 1 << 20};
  RegionPlan& out = plan.regions[1];
  plan.values[1] = bytesOfOne(kHeap.begin);
  out.region.address = kHeap.begin;
  out.before.resize(kHeap.sizeBytes);
  out.after.resize(kHeap.sizeBytes);
  for (const uint64_t begin : {kHeap.begin, kHeap.begin + (64 << 20)}) {
    const AddressRange here = {begin, kHeap.sizeBytes};
    CHECK(runOn(plan, std::make_unique<HeapDevice>(here)).resultClass == ResultClass::Exact);
    RecordingPlan wrong = plan;
    wrong.regions[1].after[kHeap.sizeBytes - 1] = std::byte{1};
    CHECK(runOn(wrong, std::make_unique<HeapDevice>(here)).resultClass == ResultClass::Wrong);
  }
}

TEST_CASE("a heap that is not found, or has another size, is named") {
  for (const AddressRange& here : {AddressRange(), AddressRange{kHeap.begin, 2 << 20}}) {
    RecordingPlan plan = scalePlan();
    plan.heap = kHeap;
    plan.addRegion(kHeap.begin, Bytes(kHeap.sizeBytes), Bytes(kHeap.sizeBytes));
    const replay::Result result = runOn(plan, std::make_unique<HeapDevice>(here));
    CHECK(result.resultClass == ResultClass::Exact); // it reads nothing there
    CHECK(result.unrecordedReads == kUnheld);
  }
}

TEST_CASE("on a device without such a heap its content is ordinary memory") {
  const replay::Result result = replayOnce(listPlan());
  CHECK(result.error == "");
  CHECK(result.resultClass == ResultClass::Exact);
}

TEST_CASE("a launch that can see the heap of a GPU is not trimmed") {
  TemporaryDirectory directory;
  replay::Session session(writeRecording(directory.path(), listPlan()), "", "cpu");
  CHECK_THROWS_WITH(replay::Trim(session, session.recorded(), 10),
                    doctest::Contains("cannot be trimmed"));
}
