#include <cstring>
#include <random>

#include <doctest/doctest.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/recorder/device_memory.h"

namespace mneme::record::test {
namespace {

volatile unsigned char& byteAt(uint64_t address) {
  return *reinterpret_cast<volatile unsigned char*>(address);
}

/// Whether a kernel could read there.
bool isThere(uint64_t address) {
  char byte = 0;
  const iovec to{&byte, 1}, from{reinterpret_cast<void*>(address), 1};
  return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1;
}

} // namespace

TEST_CASE("zeros lie around what a window holds, as far as a kernel reads by mistake") {
  const auto backend = makeHostBackend();
  WindowAllocator window(*backend, 6, 256 << 20);
  REQUIRE(window.base() % (1ull << 40) == 0);
  const uint64_t first = window.allocate(4096), second = window.allocate(3 << 20);
  std::memset(reinterpret_cast<void*>(first), 7, 4096);
  CHECK(first == window.base());
  CHECK(byteAt(first - 1) == 0);
  CHECK(byteAt(first - kGuardBytes) == 0);
  CHECK(byteAt(second + (3 << 20) + 2'400'000) == 0);
  CHECK(byteAt(second + kGuardBytes) == 0);
  CHECK_FALSE(isThere(first - kGuardBytes - 1));
  CHECK_FALSE(isThere(first + (4ull << 20) + kGuardBytes));
}

TEST_CASE("memory takes the place of guards, and guards that of memory that goes") {
  const auto backend = makeHostBackend();
  WindowAllocator window(*backend, 6, 512ull << 20);
  const uint64_t small = window.allocate(1 << 20);
  byteAt(small + (2 << 20)) = 5; // behind the page of the allocation
  CHECK(byteAt(small + (4 << 20)) == 5);
  const uint64_t large = window.allocate(100 << 20);
  std::memset(reinterpret_cast<void*>(large), 1, 100 << 20);
  CHECK(byteAt(large + (10 << 20)) == 1); // no guard is left in between
  CHECK(byteAt(small - 1) == 0);
  window.release(large, 100 << 20);
  CHECK(window.trim() > 0);
  CHECK(byteAt(small + (3 << 20)) == 0);
  CHECK_FALSE(isThere(large + (90 << 20)));
  window.release(small, 1 << 20);
  window.trim();
  CHECK(window.guards().takenBytes() == 0);
  CHECK_FALSE(isThere(small - 1));
}

TEST_CASE("guards follow memory that comes and goes at random") {
  const auto backend = makeHostBackend();
  WindowAllocator window(*backend, 6, 1ull << 30);
  std::mt19937_64 random(3);
  std::map<uint64_t, uint64_t> live;
  for (int step = 0; step < 300; ++step) {
    if (!live.empty() && random() % 2) {
      auto victim = std::next(live.begin(), static_cast<ptrdiff_t>(random() % live.size()));
      window.release(victim->first, victim->second);
      live.erase(victim);
      window.trim(random() % 2 ? 0 : 8 << 20);
    } else if (const uint64_t size = 1 + random() % (40 << 20); uint64_t at = window.allocate(size))
      live[at] = size;
    for (const auto& [address, size] : live) {
      REQUIRE(isThere(address - 1));
      REQUIRE(isThere(address + size));
      REQUIRE(isThere(address - kGuardBytes / 2));
      REQUIRE(isThere(address + size + kGuardBytes / 2));
      REQUIRE_FALSE(window.guards().isGuard(address));
      REQUIRE_FALSE(window.guards().isGuard(address + size - 1));
    }
  }
}

TEST_CASE("a write to a guard is told by the nearest place that it can have been") {
  Memory::Options options;
  options.makeBackend = [](unsigned) { return makeHostBackend(); };
  options.windowBytes = 256 << 20;
  Memory memory(options);
  CHECK(memory.guardPage(0).sizeBytes == 0);
  const auto device =
      reinterpret_cast<uint64_t>(memory.allocate(3 << 20, artifact::RegionKind::Allocation, 0));
  const Window page = memory.guardPage(0);
  REQUIRE(page.sizeBytes == kGuardPageBytes);
  byteAt(device - 12) = 1;
  CHECK(byteAt(page.address + kGuardPageBytes - 12) == 1);
  const auto before = memory.nearestStray(0, kGuardPageBytes - 12);
  REQUIRE(before);
  CHECK_FALSE(before->isBehind);
  CHECK(before->distanceBytes == 12);
  CHECK(before->near.address == device);
  // The page of the allocation goes on for 1 MiB behind it.
  const auto behind = memory.nearestStray(0, 100);
  REQUIRE(behind);
  CHECK(behind->isBehind);
  CHECK(behind->distanceBytes == (1 << 20) + 100);
}

} // namespace mneme::record::test
