#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

#include "runtime/core/base/error.h"
#include "runtime/replay/graph_replay.h"
#include "runtime/replay/textures.h"
#include "runtime/replay/trim.h"
#include "tests/unit/replay/forwarding_device.h"
#include "tests/unit/replay/kernels.h"
#include "tests/unit/replay/recording_maker.h"

using namespace mneme;
using namespace mneme::test;
using replay::ResultClass;

namespace {

/// out[0] = texture
const std::string kHandle = kHead + R"(
define ptx_kernel void @handle(ptr %out, i64 %texture) {
  store i64 %texture, ptr %out, align 8
  ret void
}
)";

constexpr uint64_t kOut = kWindow, kArray = kWindow + (2 << 20);
constexpr uint64_t kRecorded = 5;

/// The CPU device with objects whose one array is changed by each launch.
class TexturedDevice final : public ForwardingDevice {
public:
  TexturedDevice(uint64_t handle, std::vector<std::string>& calls)
      : handle_(handle), calls_(calls) {}

  std::unique_ptr<device::TextureObjects>
  makeTextures(std::span<const TextureObject> wanted) override {
    return std::make_unique<Objects>(*this, wanted.front());
  }
  uint64_t launch(device::Module& module, const device::LaunchShape& shape, void* const* args,
                  double timeoutSeconds) override {
    ++inArray;
    calls_.emplace_back("launch");
    return ForwardingDevice::launch(module, shape, args, timeoutSeconds);
  }
  uint64_t inArray = 0;

private:
  class Objects final : public device::TextureObjects {
  public:
    Objects(TexturedDevice& device, const TextureObject& wanted)
        : device_(device), memory_(wanted.memory), handles_{device.handle_} {}
    const std::vector<uint64_t>& handles() const noexcept override { return handles_; }
    void load(bool isOther) override {
      device_.calls_.emplace_back(isOther ? "load all" : "load");
      device_.copyToHost(&device_.inArray, memory_, sizeof(device_.inArray));
    }
    void store() override {
      device_.calls_.emplace_back("store");
      device_.copyToDevice(memory_, &device_.inArray, sizeof(device_.inArray));
    }

  private:
    TexturedDevice& device_;
    uint64_t memory_;
    std::vector<uint64_t> handles_;
  };

  uint64_t handle_;
  std::vector<std::string>& calls_;
};

struct Replayed {
  std::vector<std::string> calls;
  replay::Result result;
};

/// Writes a launch that was given texture 5, found `inArray` and left one more. `left` is what it
/// stored where it found `out`.
std::filesystem::path writeTextured(const std::filesystem::path& directory, uint64_t left,
                                    uint64_t inArray = 10, uint64_t out = 0,
                                    uint64_t dynamicHash = kDynamicHash) {
  RecordingPlan plan{.kernel = "handle", .ir = kHandle, .dynamicHash = dynamicHash};
  plan.addRegion(kOut, bytesOfOne(out), bytesOfOne(left));
  plan.addRegion(kArray, bytesOfOne(inArray), bytesOfOne(inArray + 1));
  plan.addPointer("out", kOut);
  plan.addScalar("texture", "i64", bytesOfOne(kRecorded));
  plan.block = plan.grid = {1, 1, 1};
  const std::filesystem::path file = writeRecording(directory, plan);
  artifact::KernelRecord record = artifact::KernelRecord::load(file);
  TextureObject object{.handle = kRecorded,
                       .isSurface = true,
                       .memory = kArray,
                       .memoryBytes = 8,
                       .array = {.width = 2, .format = 0x20, .channels = 1}};
  record.instances.at(dynamicHash).textures = {object};
  record.device = "cuda:0";
  std::ofstream(file) << record.toJson();
  return file;
}

Replayed replayed(uint64_t handle, uint64_t left, bool hasTextures = true,
                  replay::Options options = {.iterations = 2, .warmup = 1}) {
  const TemporaryDirectory directory;
  const std::filesystem::path file = writeTextured(directory.path(), left);
  Replayed done;
  std::unique_ptr<device::Device> device;
  if (hasTextures)
    device = std::make_unique<TexturedDevice>(handle, done.calls);
  else
    device = std::make_unique<ForwardingDevice>();
  replay::Session session(file, "", std::move(device));
  done.result = session.run(session.recorded(), options);
  return done;
}

/// Writes two such launches, between which something wrote 20 into the array.
std::vector<replay::GraphStep> writeGraph(const std::filesystem::path& directory, uint64_t left) {
  const std::filesystem::path file = writeTextured(directory, left);
  writeTextured(directory, left, 20, left, kDynamicHash + 1);
  return {{file, std::to_string(kDynamicHash), {}}, {file, std::to_string(kDynamicHash + 1), {}}};
}

/// Replays them as a graph.
Replayed replayedGraph(uint64_t handle, uint64_t left, bool hasTextures = true) {
  const TemporaryDirectory directory;
  const auto steps = writeGraph(directory.path(), left);
  Replayed done;
  std::unique_ptr<device::Device> device;
  if (hasTextures)
    device = std::make_unique<TexturedDevice>(handle, done.calls);
  else
    device = std::make_unique<ForwardingDevice>();
  done.result = replay::replayGraph(steps, std::move(device), {.iterations = 2, .warmup = 1});
  return done;
}

} // namespace

TEST_CASE("arrays are filled before each launch and compared after it") {
  const auto [calls, result] = replayed(kRecorded, kRecorded);
  CHECK(result.error == "");
  CHECK(result.resultClass == ResultClass::Exact);
  REQUIRE(calls.size() > 4);
  CHECK(calls[0] == "load");
  CHECK(calls[1] == "launch");
  CHECK(calls[2] == "store");
  CHECK(calls[3] == "load");
  CHECK(calls[4] == "launch");
}

TEST_CASE("an argument gets the handle that the device gave") {
  CHECK(replayed(77, 77).result.resultClass == ResultClass::Exact);
  CHECK(replayed(77, kRecorded).result.resultClass == ResultClass::Wrong);
}

TEST_CASE("a device without textures leaves the argument as it was") {
  const auto [calls, result] = replayed(0, kRecorded, false);
  CHECK(result.error == "");
  CHECK(result.resultClass == ResultClass::Wrong); // nothing changed the array
}

TEST_CASE("kernels of a graph leave arrays to each other, and to what is written between them") {
  const auto [calls, result] = replayedGraph(kRecorded, kRecorded);
  CHECK(result.error == "");
  CHECK(result.resultClass == ResultClass::Exact);
  REQUIRE(calls.size() > 6);
  const std::vector<std::string> once = {"load all", "launch", "store",
                                         "load all", "launch", "store"};
  CHECK(std::vector(calls.begin(), calls.begin() + 6) == once);
}

TEST_CASE("each kernel of a graph gets the handle that the device gave") {
  CHECK(replayedGraph(77, 77).result.resultClass == ResultClass::Exact);
  CHECK(replayedGraph(77, kRecorded).result.resultClass == ResultClass::Wrong);
  CHECK(replayedGraph(0, kRecorded, false).result.resultClass == ResultClass::Wrong);
}

TEST_CASE(
    "a kernel whose arguments name no object finds it where the device gave its handle again") {
  const TemporaryDirectory directory;
  const auto record = artifact::KernelRecord::load(writeTextured(directory.path(), kRecorded));
  const artifact::Instance& instance = record.instances.at(kDynamicHash);
  const auto open = [&](const std::string& file) {
    return artifact::Snapshot::open(directory.path() / file);
  };
  const auto prologue = open(instance.prologue), epilogue = open(instance.epilogue);
  for (const uint64_t handle : {kRecorded, uint64_t{77}}) {
    std::vector<std::string> calls;
    TexturedDevice device(handle, calls);
    const replay::MemoryImage image(device, record, prologue, epilogue, UINT64_MAX);
    replay::Textures textures(device, record, instance, image);
    CHECK(textures.holds("surfaces"));
    std::vector<std::vector<std::byte>> named = prologue.args(), unnamed = {bytesOfOne(kOut)};
    CHECK(textures.holds("surfaces", textures.rewrite(named, record)));
    CHECK(textures.holds("surfaces", textures.rewrite(unnamed, record)) == (handle == kRecorded));
  }
}

TEST_CASE("kernels of a graph that see other textures than the first do not replay together") {
  const TemporaryDirectory directory;
  const auto steps = writeGraph(directory.path(), kRecorded);
  artifact::KernelRecord record = artifact::KernelRecord::load(steps[0].record);
  record.instances.at(kDynamicHash + 1).textures.clear();
  std::ofstream(steps[0].record) << record.toJson();
  std::vector<std::string> calls;
  CHECK_THROWS_WITH_AS(
      replay::replayGraph(steps, std::make_unique<TexturedDevice>(kRecorded, calls), {}),
      doctest::Contains("sees other textures or surfaces than the first"), Error);
}

TEST_CASE("trials fill arrays from memory and see what is left in them") {
  for (const uint64_t handle : {kRecorded, uint64_t{77}}) {
    const TemporaryDirectory directory;
    std::vector<std::string> calls;
    replay::Session session(writeTextured(directory.path(), handle), "",
                            std::make_unique<TexturedDevice>(handle, calls));
    replay::Trim trim(session, session.recorded(), 10);
    CHECK(trim.takeReference({1, 1, 1}).refusal == "");
    CHECK(trim.trial({}).difference == "");
    const std::vector<replay::Fill> output = {{kOut, 8, replay::Pattern::Small}};
    CHECK(trim.trial(output).difference == "");
    const std::vector<replay::Fill> array = {{kArray, 8, replay::Pattern::Small}};
    CHECK(trim.trial(array).difference != "");
    CHECK(std::ranges::count(calls, "load") ==
          0); // textures that no launch changes are filled, too
  }
}
