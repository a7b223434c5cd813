// Measures launches, barriers and bulk operations of the CPU device, on images written by hand.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

#include <time.h>

#include "runtime/devices/device.h"
#include "tests/unit/device/support.h"

using namespace test;
using namespace mneme::device;

namespace {

/// Nanoseconds of processor time of one call on the calling thread, the best of several rounds: on
/// a busy machine this is what the code costs, where all of it runs on the caller.
template <typename Action>
double bestCpuNs(int rounds, int calls, const Action& action,
                 clockid_t clock = CLOCK_THREAD_CPUTIME_ID) {
  const auto now = [clock] {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
  };
  double best = 1e30;
  for (int round = 0; round < rounds; ++round) {
    const double start = now();
    for (int i = 0; i < calls; ++i)
      action();
    best = std::min(best, (now() - start) / calls);
  }
  return best;
}

/// Nanoseconds of one call, the best of several rounds.
template <typename Action> double bestNs(int rounds, int calls, const Action& action) {
  double best = 1e30;
  for (int round = 0; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i)
      action();
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
    best = std::min(best, spent.count() / calls);
  }
  return best;
}

void report(const char* what, double value, const char* unit) {
  printf("%-58s %10.2f %s\n", what, value, unit);
}

void measureLaunches() {
  auto empty = loadImage("empty"), sync = loadImage("sync");
  report("empty kernel, 1 block",
         bestCpuNs(10, 2000, [&] { run(*empty, shapeOf(1, 1), nullptr, 0); }), "ns/launch");
  report("empty kernel, 1 block, with timeout",
         bestCpuNs(10, 2000, [&] { run(*empty, shapeOf(1, 1), nullptr, 5); }), "ns/launch");
  report("empty kernel, 100000 blocks",
         bestNs(10, 20, [&] { run(*empty, shapeOf(100000, 1), nullptr, 0); }) / 100000, "ns/block");
  for (uint32_t threads : {32u, 256u, 1024u}) {
    char what[64];
    snprintf(what, sizeof what, "barrier, one block of %u threads", threads);
    report(what,
           bestCpuNs(5, 3, [&] { launch(*sync, 15, shapeOf(1, threads), 0); }) / 1000 / threads,
           "ns/thread");
  }
  report("shuffle, one block of 256 threads",
         bestCpuNs(5, 3, [&] { launch(*sync, 17, shapeOf(1, 256), 0); }) / 1000 / 256, "ns/thread");
  report("barrier, 64 blocks of 256 threads on all cores",
         bestNs(3, 1, [&] { launch(*sync, 15, shapeOf(64, 256), 0); }) / 1000 / 256 / 64,
         "ns/thread");
}

void measureBulkOperations() {
  constexpr uint64_t size = 512 << 20;
  auto device = openDevice("cpu");
  const uint64_t first = device->reserve(0, 2 * size), second = first + size;
  device->map(first, 2 * size);
  memset(reinterpret_cast<void*>(first), 1, 2 * size);
  auto rate = [&](const char* what, const auto& action) {
    report(what, static_cast<double>(size) / bestNs(4, 1, action), "GB/s");
    report("  per second of processor time",
           static_cast<double>(size) / bestCpuNs(4, 1, action, CLOCK_PROCESS_CPUTIME_ID), "GB");
  };
  rate("memcpy, one thread",
       [&] { memcpy(reinterpret_cast<void*>(second), reinterpret_cast<void*>(first), size); });
  const CopyRange range{second, first, size};
  rate("restore", [&] { device->restore({&range, 1}); });
  std::vector<mneme::Hash128> hashes(size / 4096);
  rate("hash pages of 4 KiB", [&] { device->hashPages(first, size, 4096, hashes); });
  rate("diff pages of 4 KiB (each range)", [&] { device->diffPages(first, second, size, 4096); });
  CompareRequest request;
  request.actual = first;
  request.expected = second;
  request.sizeBytes = size;
  request.type = DataType::F32;
  rate("compare, exact, equal", [&] { device->compare({&request, 1}); });
  request.threshold = 1e-5;
  request.kind = ThresholdKind::Relative;
  rate("compare, relative, equal", [&] { device->compare({&request, 1}); });
  auto* values = reinterpret_cast<float*>(first);
  for (uint64_t i = 0; i < size / 4; i += 16)
    values[i] *= 1.0000002f;
  rate("compare, relative, every 16th differs", [&] { device->compare({&request, 1}); });
  request.norm = Norm::L2;
  rate("compare, L2 norm", [&] { device->compare({&request, 1}); });
}

} // namespace

int main() {
  measureLaunches();
  measureBulkOperations();
  return 0;
}
