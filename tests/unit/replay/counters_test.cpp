#include <doctest/doctest.h>

#include "runtime/core/base/error.h"
#include "tests/unit/replay/forwarding_device.h"
#include "tests/unit/replay/kernels.h"
#include "tests/unit/replay/recording_maker.h"

using namespace mneme;
using namespace mneme::test;
using replay::ResultClass;

namespace {

/// The CPU device with counters that take three passes and count launches.
class CountingDevice final : public ForwardingDevice {
public:
  explicit CountingDevice(std::vector<std::string>& calls) : calls_(calls) {}

  void restore(std::span<const device::CopyRange> ranges) override {
    calls_.emplace_back("restore");
    ForwardingDevice::restore(ranges);
  }
  void flushCaches() override { calls_.emplace_back("flush"); }
  uint64_t launch(device::Module& module, const device::LaunchShape& shape, void* const* args,
                  double timeoutSeconds) override {
    calls_.emplace_back("launch");
    ForwardingDevice::launch(module, shape, args, timeoutSeconds);
    return 1000; // short, however busy the machine is
  }
  std::vector<uint64_t> launchSeries(device::Module& module, const device::LaunchShape& shape,
                                     void* const* args, double timeoutSeconds, uint32_t count,
                                     const std::function<void()>& restore) override {
    calls_.push_back("series of " + std::to_string(count));
    return ForwardingDevice::launchSeries(module, shape, args, timeoutSeconds, count, restore);
  }
  std::unique_ptr<device::CounterPasses>
  startCounters(const std::vector<std::string>& names) override {
    if (names.front() == "forbidden")
      throw Error(ErrorCode::BackendUnavailable, "not for you");
    return std::make_unique<Passes>(calls_, names.size());
  }

private:
  class Passes final : public device::CounterPasses {
  public:
    Passes(std::vector<std::string>& calls, size_t count) : calls_(calls), count_(count) {}
    void begin() override { calls_.emplace_back("begin"); }
    bool end() override {
      calls_.emplace_back("end");
      return ++passes_ == 3;
    }
    std::vector<double> values() override { return std::vector<double>(count_, 2.5); }

  private:
    std::vector<std::string>& calls_;
    size_t count_;
    int passes_ = 0;
  };

  std::vector<std::string>& calls_;
};

struct Counted {
  std::vector<std::string> calls;
  replay::Result result;
};

Counted replayCounting(replay::Options options, const std::string& ir = "") {
  TemporaryDirectory directory;
  Counted counted;
  replay::Session session(writeRecording(directory.path(), scalePlan()), "",
                          std::make_unique<CountingDevice>(counted.calls));
  const Bytes bytes = bytesOfText(ir);
  options.ir = bytes;
  counted.result = session.run(session.recorded(), options);
  return counted;
}

} // namespace

TEST_CASE("counters are read on restored memory, in launches that are not measured") {
  const auto [calls, result] =
      replayCounting({.iterations = 2, .warmup = 1, .coldCache = true, .counters = {"a", "b"}});
  CHECK(result.resultClass == ResultClass::Exact);
  CHECK(result.counters == std::vector<std::pair<std::string, double>>{{"a", 2.5}, {"b", 2.5}});
  CHECK(result.countersError.empty());
  CHECK(result.execNs.size() == 3);
  const std::vector<std::string> pass = {"restore", "flush", "begin", "launch", "end"};
  REQUIRE(calls.size() > 15);
  for (size_t i = 0; i < 15; ++i)
    CHECK(calls[calls.size() - 15 + i] == pass[i % 5]);
  CHECK(toJson(result).find(R"("counters":{"a":2.5,"b":2.5})") != std::string::npos);
}

TEST_CASE("counters that cannot be read leave the result as it is") {
  const auto counted = replayCounting({.counters = {"forbidden"}});
  CHECK(counted.result.verified);
  CHECK(counted.result.counters.empty());
  CHECK(counted.result.countersError == "not for you");
  CHECK(toJson(counted.result).find(R"("counters_error":"not for you")") != std::string::npos);
}

TEST_CASE("without a wish no counters are read") {
  const auto counted = replayCounting({});
  CHECK(std::find(counted.calls.begin(), counted.calls.end(), "begin") == counted.calls.end());
}

TEST_CASE("launches in a row are restored and measured as others are") {
  const auto [calls, result] = replayCounting({.iterations = 65, .warmup = 1, .inSeries = true});
  CHECK(result.resultClass == ResultClass::Exact);
  CHECK(result.execNs.size() == 66);
  CHECK(result.iterationsUsed == 65);
  CHECK(result.launches == 66);
  CHECK(std::count(calls.begin(), calls.end(), "launch") == 66);
  CHECK(std::count(calls.begin(), calls.end(), "series of 50") == 1);
  CHECK(std::count(calls.begin(), calls.end(), "series of 15") == 1);
  const auto first = std::find(calls.begin(), calls.end(), "series of 50");
  for (auto call = first + 1; call < first + 101; call += 2) {
    CHECK(call[0] == "restore");
    CHECK(call[1] == "launch");
  }
}

TEST_CASE("launches that are measured until enough is known are not in a row") {
  for (const replay::Options& options :
       {replay::Options{.iterations = 10, .inSeries = false},
        replay::Options{.iterations = 10, .confidence = 0.5, .inSeries = true},
        replay::Options{.iterations = 10, .coldCache = true, .inSeries = true}}) {
    const auto counted = replayCounting(options);
    CHECK(std::none_of(counted.calls.begin(), counted.calls.end(),
                       [](const std::string& call) { return call.starts_with("series"); }));
  }
}
