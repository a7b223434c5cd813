#include <cstring>
#include <map>
#include <random>

#include <doctest/doctest.h>

#include "runtime/recorder/window_allocator.h"

namespace mneme::record::test {
namespace {

/// Grants addresses, and memory up to a limit, without having any.
class PaperBackend final : public MemoryBackend {
public:
  uint64_t granularity() const override { return 4096; }
  bool reserve(uint64_t address, uint64_t sizeBytes) override {
    return address >= lowestGranted && sizeBytes <= largestGranted;
  }
  void release(uint64_t, uint64_t) noexcept override { isReserved = false; }
  bool map(uint64_t address, uint64_t sizeBytes) override {
    if (mapped + sizeBytes > memory)
      return false;
    mapped += sizeBytes;
    runs[address] = sizeBytes;
    return true;
  }
  void unmap(uint64_t address, uint64_t sizeBytes) noexcept override {
    CHECK(runs.at(address) == sizeBytes); // runs come back whole
    runs.erase(address);
    mapped -= sizeBytes;
  }
  bool share(uint64_t, uint64_t sizeBytes, unsigned) override {
    shared += sizeBytes;
    return true;
  }

  uint64_t lowestGranted = 0;
  uint64_t largestGranted = ~0ull;
  uint64_t memory = ~0ull;
  uint64_t mapped = 0;
  uint64_t shared = 0;
  bool isReserved = true;
  std::map<uint64_t, uint64_t> runs;
};

} // namespace

TEST_CASE("windows of devices lie a tebibyte apart at the documented address") {
  PaperBackend backend;
  CHECK(WindowAllocator(backend, 0, 1 << 20).base() == 0x600000000000);
  CHECK(WindowAllocator(backend, 3, 1 << 20).base() == 0x630000000000);
}

TEST_CASE("a window that is not granted anywhere serves nothing") {
  PaperBackend backend;
  backend.largestGranted = 0;
  WindowAllocator window(backend, 0, 1 << 20);
  CHECK(window.base() == 0);
  CHECK(window.allocate(1) == 0);
}

TEST_CASE("random allocations are aligned, disjoint and inside the window") {
  PaperBackend backend;
  WindowAllocator window(backend, 0, 64 << 20);
  std::mt19937_64 random(1);
  std::map<uint64_t, uint64_t> live;
  for (int step = 0; step < 20000; ++step) {
    if (!live.empty() && random() % 2) {
      auto victim = live.begin();
      std::advance(victim, random() % live.size());
      window.release(victim->first, victim->second);
      live.erase(victim);
      continue;
    }
    const uint64_t size = 1 + random() % (random() % 10 == 0 ? 4 << 20 : 5000);
    const uint64_t address = window.allocate(size);
    if (address == 0)
      continue;
    REQUIRE(address % kAllocationAlignment == 0);
    REQUIRE(address >= window.base());
    REQUIRE(address + size <= window.base() + window.sizeBytes());
    const auto next = live.lower_bound(address);
    REQUIRE((next == live.end() || address + size <= next->first));
    REQUIRE((next == live.begin() || std::prev(next)->first + std::prev(next)->second <= address));
    live[address] = size;
  }
  for (const auto& [address, size] : live)
    window.release(address, size);
  CHECK(window.allocate(64 << 20) == window.base()); // everything coalesced
}

TEST_CASE("an exhausted window says so and recovers") {
  PaperBackend backend;
  WindowAllocator window(backend, 0, 1 << 20);
  const uint64_t all = window.allocate(1 << 20);
  CHECK(all == window.base());
  CHECK(window.allocate(1) == 0);
  CHECK(window.allocate(~0ull) == 0);
  window.release(all, 1 << 20);
  CHECK(window.allocate(0) == 0);
  CHECK(window.allocate(512) == window.base());
}

TEST_CASE("no memory behind the addresses is an exhausted window") {
  PaperBackend backend;
  backend.memory = 8192;
  WindowAllocator window(backend, 0, 1 << 20);
  CHECK(window.allocate(8192) != 0);
  CHECK(window.allocate(8192) == 0);
}

TEST_CASE("memory is mapped once and freed blocks are reused") {
  PaperBackend backend;
  {
    WindowAllocator window(backend, 0, 1 << 20);
    for (int round = 0; round < 10; ++round)
      window.release(window.allocate(10000), 10000);
    CHECK(backend.mapped == 12288);
    window.allocate(1);
  }
  CHECK(backend.mapped == 0);
  CHECK_FALSE(backend.isReserved);
}

TEST_CASE("idle memory is given back where nothing else is left") {
  PaperBackend backend;
  backend.memory = 5 * 4096;
  WindowAllocator window(backend, 0, 1 << 20);
  const uint64_t first = window.allocate(2 * 4096), second = window.allocate(2 * 4096);
  window.release(first, 2 * 4096);
  CHECK(window.idleBytes() == 2 * 4096);
  CHECK(window.allocate(3 * 4096) != 0); // does not fit where the first was
  CHECK(window.idleBytes() == 0);
  CHECK(window.allocate(4096) == 0);
  window.release(second, 2 * 4096);
  CHECK(window.trim(2 * 4096) == 0);
  CHECK(window.trim() == 2 * 4096);
}

TEST_CASE("what is shared later covers what is mapped already and what comes") {
  PaperBackend backend;
  WindowAllocator window(backend, 0, 1 << 20);
  window.allocate(4096);
  window.share(1);
  CHECK(backend.shared == 4096);
  window.share(1);
  window.allocate(4096);
  CHECK(backend.shared == 8192);
}

TEST_CASE("host memory is zero when fresh and can be written") {
  const auto backend = makeHostBackend();
  WindowAllocator window(*backend, 7, 16 << 20);
  REQUIRE(window.base() != 0);
  auto* bytes = reinterpret_cast<unsigned char*>(window.allocate(5 << 20));
  REQUIRE(bytes);
  CHECK(bytes[0] == 0);
  CHECK(bytes[(5 << 20) - 1] == 0);
  std::memset(bytes, 1, 5 << 20);
  const WindowAllocator second(*backend, 7, 16 << 20);
  CHECK(second.base() != window.base()); // the first place is taken
}

} // namespace mneme::record::test
