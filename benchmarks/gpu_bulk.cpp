// Bandwidth of the bulk operations of a device (MNEME_DEVICE, else cuda:0), beside that of the
// vendor's own copy on the device. Prints JSON. GB/s count bytes read and bytes written; every time
// is the median of several runs and includes what the host does.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>

#include <nlohmann/json.hpp>

#include "runtime/core/base/error.h"
#include "runtime/devices/device.h"

using namespace mneme;
using namespace mneme::device;

namespace {

constexpr uint64_t mebi = 1 << 20;
constexpr int runs = 7;

class Bench {
public:
  explicit Bench(Device& device)
      : device_(device), isGpu_(device.description().id != "cpu"),
        sizeBytes_(isGpu_ ? 4096 * mebi : 64 * mebi) {
    const uint64_t room = sizeBytes_ + device.granularity();
    room_ = (room + device.granularity() - 1) / device.granularity() * device.granularity();
    for (uint64_t& buffer : {std::ref(first_), std::ref(second_)}) {
      buffer = device.reserve(0, room_);
      device.map(buffer, room_);
    }
    fill();
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  ~Bench() {
    for (const uint64_t buffer : {first_, second_}) {
      device_.unmap(buffer, room_);
      device_.release(buffer, room_);
    }
  }

  nlohmann::json run() {
    copies();
    reads();
    comparisons();
    return {{"device", device_.description().name},
            {"driver", device_.description().driver},
            {"bytes", sizeBytes_},
            {"copy_gb_per_s", copyRate_},
            {"results", results_}};
  }

private:
  /// The same bytes that are not all zero in both buffers.
  void fill() {
    std::vector<uint32_t> pattern(16 * mebi / 4);
    for (size_t i = 0; i < pattern.size(); ++i) // floats between 1 and 2
      pattern[i] = 0x3f800000 | (static_cast<uint32_t>(i) * 2654435761u >> 9);
    const uint64_t bytes = pattern.size() * 4;
    for (uint64_t at = 0; at < room_; at += bytes)
      for (const uint64_t buffer : {first_, second_})
        device_.copyToDevice(buffer + at, pattern.data(), std::min(bytes, room_ - at));
  }

  double seconds(const std::function<void()>& action) {
    std::vector<double> times;
    for (int run = -1; run < runs; ++run) { // the first one warms up
      wait();
      const auto begin = std::chrono::steady_clock::now();
      action();
      wait();
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
      if (run >= 0)
        times.push_back(time.count());
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }

  void wait() {
    uint32_t word = 0;
    device_.copyToHost(&word, first_, sizeof(word));
  }

  double add(const char* name, uint64_t movedBytes, const std::function<void()>& action) {
    const double time = seconds(action);
    const double rate = static_cast<double>(movedBytes) / time / 1e9;
    nlohmann::json result = {{"name", name}, {"ms", time * 1e3}, {"gb_per_s", rate}};
    if (copyRate_ > 0)
      result["share_of_copy"] = rate / copyRate_;
    results_.push_back(std::move(result));
    return rate;
  }

  /// Ranges of `bytes` each, `gap` apart, with the source shifted.
  std::vector<CopyRange> ranges(uint64_t bytes, uint64_t gap, uint64_t shift) const {
    std::vector<CopyRange> all;
    for (uint64_t at = 0; at + bytes + shift <= sizeBytes_; at += bytes + gap)
      all.push_back({second_ + at, first_ + at + shift, bytes});
    return all;
  }

  void addRestore(const char* name, const std::vector<CopyRange>& copied) {
    uint64_t total = 0;
    for (const CopyRange& range : copied)
      total += range.sizeBytes;
    add(name, 2 * total, [&] { device_.restore(copied); });
  }

  void copies() {
    const std::vector<CopyRange> whole = {{second_, first_, sizeBytes_}};
    copyRate_ = add("restore: one range, the vendor's copy", 2 * sizeBytes_,
                    [&] { device_.restore(whole); });
    addRestore("restore: ranges of 32 MiB", ranges(32 * mebi, 0, 0));
    addRestore("restore: ranges of 64 KiB with gaps", ranges(65536, 4096, 0));
    addRestore("restore: ranges of 4 KiB with gaps", ranges(4096, 60 << 10, 0));
    addRestore("restore: 32 MiB, source 4 bytes off", ranges(32 * mebi - 64, 64, 4));
    device_.restore(whole);
  }

  void reads() {
    std::vector<Hash128> hashes(sizeBytes_ / 4096);
    for (const auto& [name, pageBytes] :
         {std::pair{"hash: pages of 64 KiB", 65536u}, std::pair{"hash: pages of 4 KiB", 4096u},
          std::pair{"hash: pages of 2 MiB", 2u << 20}})
      add(name, sizeBytes_, [&] { device_.hashPages(first_, sizeBytes_, pageBytes, hashes); });
    add("hash: pages of 64 KiB, 4 bytes off", sizeBytes_ - 4096,
        [&] { device_.hashPages(first_ + 4, sizeBytes_ - 4096, 65536, hashes); });
    add("diff: equal, pages of 64 KiB", 2 * sizeBytes_,
        [&] { device_.diffPages(first_, second_, sizeBytes_, 65536); });
    add("diff: equal, odd end", 2 * (sizeBytes_ - 3),
        [&] { device_.diffPages(first_, second_, sizeBytes_ - 3, 65536); });
  }

  CompareRequest request(DataType type, ThresholdKind kind, double threshold) const {
    CompareRequest made;
    made.actual = first_;
    made.expected = second_;
    made.sizeBytes = sizeBytes_;
    made.type = type;
    made.kind = kind;
    made.threshold = threshold;
    return made;
  }

  void addCompare(const char* name, const CompareRequest& compared, bool isAccepted) {
    add(name, 2 * compared.sizeBytes, [&] {
      if (device_.compare({&compared, 1}).at(0).isAccepted != isAccepted)
        throw Error(ErrorCode::Internal, std::string("wrong verdict: ") + name);
    });
  }

  void comparisons() {
    addCompare("compare: exact, u8, equal", request(DataType::U8, ThresholdKind::Absolute, 0),
               true);
    addCompare("compare: f32 relative, equal",
               request(DataType::F32, ThresholdKind::Relative, 1e-6), true);
    CompareRequest odd = request(DataType::U8, ThresholdKind::Absolute, 0);
    odd.actual += 4;
    odd.expected += 4;
    odd.sizeBytes -= 4096 - 7;
    addCompare("compare: exact, 4 bytes off, odd end", odd, true);
    CompareRequest norm = request(DataType::F32, ThresholdKind::Relative, 1e-6);
    norm.norm = Norm::L2;
    addCompare("compare: f32 L2 norm, equal", norm, true);
    // Some elements off: they differ, by less than their double.
    CompareRequest shifted = request(DataType::F32, ThresholdKind::Relative, 2);
    shifted.expected += 16;
    shifted.sizeBytes -= 4096;
    addCompare("compare: f32 relative, all different", shifted, true);
    shifted = request(DataType::U8, ThresholdKind::Absolute, 255);
    shifted.expected += 16;
    shifted.sizeBytes -= 4096;
    addCompare("compare: u8 absolute, most different", shifted, true);
  }

  Device& device_;
  bool isGpu_;
  uint64_t sizeBytes_, room_ = 0;
  uint64_t first_ = 0, second_ = 0;
  double copyRate_ = 0;
  nlohmann::json results_ = nlohmann::json::array();
};

} // namespace

int main() {
  const char* wanted = getenv("MNEME_DEVICE");
  try {
    const auto device = openDevice(wanted && *wanted ? wanted : "cuda:0");
    std::printf("%s\n", Bench(*device).run().dump(1).c_str());
  } catch (const Error& error) {
    if (error.code() == ErrorCode::BackendUnavailable) {
      std::printf("%s\n", nlohmann::json({{"skipped", error.what()}}).dump().c_str());
      return 0;
    }
    std::fprintf(stderr, "bench_gpu_bulk: %s\n", error.what());
    return 1;
  }
  return 0;
}
