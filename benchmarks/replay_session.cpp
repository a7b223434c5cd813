// Measures replay on the device of MNEME_TEST_DEVICE, else the CPU: bench_replay [MiB per buffer].
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>

#include "tests/unit/replay/kernels.h"
#include "tests/unit/replay/recording_maker.h"

using namespace mneme;
using namespace mneme::test;

namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Processor time of all threads.
double cpuSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double copyBandwidth(size_t bytes) {
  std::vector<char> a(bytes, 1), b(bytes, 2);
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const double start = seconds();
    std::memcpy(b.data(), a.data(), bytes);
    best = std::min(best, seconds() - start);
  }
  return static_cast<double>(bytes) / best / 1e9;
}

void measureLarge(size_t mib) {
  const uint32_t count = static_cast<uint32_t>(mib << 18);
  RecordingPlan plan = scalePlan(count);
  const uint64_t far = kWindow + (512 << 20);
  plan.regions[1].region.address = far;
  plan.values[1] = bytesOfOne(far);
  TemporaryDirectory directory;
  const auto record = writeRecording(directory.path(), plan);
  double start = seconds(), cpuStart = cpuSeconds();
  replay::Session session(record, "", testDevice());
  const double open = seconds() - start, cpuOpen = cpuSeconds() - cpuStart;
  const replay::Result first = session.run(session.recorded(), {.iterations = 1, .warmup = 0});
  const replay::Result result = session.run(session.recorded(), {.iterations = 9, .warmup = 0});
  const double gigabytes = static_cast<double>(mib) / 1024 * 1.073741824;
  std::printf("%zu MiB in, %zu MiB out, %s\n", mib, mib, nameOf(result.resultClass));
  std::printf("  memcpy, one thread   %.1f GB/s copied\n", copyBandwidth(mib << 20));
  std::printf(
      "  open                 %.3f s, %.2f GB/s of 2 regions before and 1 after (%.3f s of CPU)\n",
      open, 3 * gigabytes / open, cpuOpen);
  std::printf("  restore              %.2f GB/s copied (the changed buffer)\n",
              10 * gigabytes / result.restoreSeconds);
  std::printf("  verify               %.2f GB/s of live memory\n",
              2 * gigabytes / result.verifySeconds);
  std::printf("  first verify         %.2f GB/s\n", 2 * gigabytes / first.verifySeconds);
}

void measureSmall() {
  TemporaryDirectory directory;
  const auto record = writeRecording(directory.path(), scalePlan(1000));
  double start = seconds();
  replay::Session session(record, "", testDevice());
  const double open = seconds() - start;
  start = seconds();
  const replay::Result result = session.run(session.recorded(), {.iterations = 1, .warmup = 0});
  const double first = seconds() - start;
  start = seconds();
  constexpr int kRuns = 2000;
  for (int i = 0; i < kRuns; ++i)
    session.run(session.recorded(), {.iterations = 1, .warmup = 0});
  const double many = (seconds() - start) / kRuns;
  start = seconds();
  session.run(session.recorded(), {.iterations = 2000, .warmup = 0});
  const double launches = (seconds() - start) / 2000;
  std::printf("tiny kernel, %s %s\n", nameOf(result.resultClass), result.error.c_str());
  std::printf("  open                 %.1f ms\n", open * 1e3);
  std::printf("  first configuration  %.1f ms (compiled or from the disk cache)\n", first * 1e3);
  std::printf("  same configuration   %.0f runs/s (restore, verify, restore, measure)\n", 1 / many);
  std::printf("  measured launches    %.0f /s\n", 1 / launches);
}

} // namespace

int main(int argc, char** argv) {
  measureSmall();
  measureLarge(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 256);
}
