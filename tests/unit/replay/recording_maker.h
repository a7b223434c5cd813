// Synthetic recordings for the tests of replay.
#pragma once

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/core/artifact/recording.h"
#include "runtime/replay/replay.h"
#include "tests/unit/base/temporary_directory.h"

namespace mneme::test {

using Bytes = std::vector<std::byte>;

inline constexpr uint64_t kWindow = 0x610000000000;
inline constexpr uint64_t kWindowBytes = 1ull << 30;
inline constexpr uint64_t kStaticHash = 0x1234567890abcdef;
inline constexpr uint64_t kDynamicHash = 42;

template <typename Value> Bytes bytesOf(const std::vector<Value>& values) {
  Bytes bytes(values.size() * sizeof(Value));
  if (!values.empty())
    std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}
template <typename Value> Bytes bytesOfOne(const Value& value) {
  return bytesOf(std::vector<Value>{value});
}
inline Bytes bytesOfText(const std::string& text) {
  return bytesOf(std::vector<char>(text.begin(), text.end()));
}

/// One region before and after the launch.
struct RegionPlan {
  artifact::Region region; ///< size is taken from `before`
  Bytes before;
  Bytes after;
};

struct RecordingPlan {
  std::string kernel;
  std::string ir;
  std::vector<RegionPlan> regions = {};
  std::vector<KernelArg> args = {};
  std::vector<Bytes> values = {};
  artifact::Dim3 grid = {}, block = {};
  uint64_t windowAddress = kWindow;
  uint64_t windowBytes = kWindowBytes;
  AddressRange heap = {}; ///< artifact::Instance::heap
  uint64_t dynamicHash = kDynamicHash;

  void addRegion(uint64_t address, Bytes before, Bytes after);
  void addGlobal(const std::string& name, uint64_t address, Bytes before, Bytes after);
  void addPointer(const std::string& name, uint64_t address);
  void addScalar(const std::string& name, const std::string& type, Bytes value);
};

/// Writes the recording; returns the path of its JSON.
std::filesystem::path writeRecording(const std::filesystem::path& directory,
                                     const RecordingPlan& plan);

/// kScale on `count` floats, out behind in, with a gap between them.
RecordingPlan scalePlan(uint32_t count = 1000);
inline constexpr uint64_t kScaleIn = kWindow;
inline constexpr uint64_t kScaleOut = kWindow + (2 << 20);

/// "cpu", or what MNEME_TEST_DEVICE says: for running the tests that ruin no GPU on one.
std::string testDevice();

/// Opens the recording on testDevice() and runs it once as recorded, with `ir` if not empty.
replay::Result replayOnce(const RecordingPlan& plan, const std::string& ir = "",
                          replay::Options options = {});

} // namespace mneme::test
