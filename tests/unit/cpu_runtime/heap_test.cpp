#include <cstring>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "runtime/emulator/runtimes/core/heap.h"

using namespace mneme::cpu_runtime;

namespace {

bool anyKind(const Block&) { return true; }

} // namespace

// First: what was allocated once and freed faults.
TEST_CASE("zeros lie before the first allocation and behind the last one") {
  Heap& heap = Heap::instance();
  constexpr size_t guardBytes = 32 << 20;
  auto* small = static_cast<volatile char*>(heap.allocate(4096, MemoryKind::Device));
  auto* large = static_cast<volatile char*>(heap.allocate(3 << 20, MemoryKind::Device));
  CHECK(small[-512] == 0);
  CHECK(small[-1'000'000] == 0);
  CHECK(large[-4] == 0);
  CHECK(large[(3 << 20) + 2'400'000] == 0);
  CHECK_FALSE(heap.isAccessible(const_cast<char*>(small) - 512, 4)); // copies may not use it
  auto* next = static_cast<volatile char*>(heap.allocate(guardBytes, MemoryKind::Device));
  next[guardBytes - 1] = 1;
  CHECK(next[guardBytes / 2] == 0);
  CHECK(next[guardBytes + 2'400'000] == 0);
  heap.releaseAll();
}

TEST_CASE("allocations are aligned, disjoint and writable") {
  Heap& heap = Heap::instance();
  std::vector<void*> pointers;
  for (const size_t bytes : {1, 255, 256, 257, 5000, 32768, 32769, 1 << 20, 5 << 20}) {
    void* pointer = heap.allocate(bytes, MemoryKind::Device);
    REQUIRE(pointer);
    CHECK(reinterpret_cast<uintptr_t>(pointer) % 256 == 0);
    std::memset(pointer, 0xAB, bytes);
    const auto block = heap.find(static_cast<char*>(pointer) + bytes - 1);
    REQUIRE(block);
    CHECK(block->bytes == bytes);
    pointers.push_back(pointer);
  }
  for (void* pointer : pointers)
    CHECK(heap.release(pointer, anyKind));
  CHECK(heap.usedBytes() == 0);
}

TEST_CASE("freed addresses are reused and double frees refused") {
  Heap& heap = Heap::instance();
  void* small = heap.allocate(100, MemoryKind::Device);
  void* large = heap.allocate(1 << 20, MemoryKind::Device);
  CHECK(heap.release(small, anyKind));
  CHECK_FALSE(heap.release(small, anyKind));
  CHECK(heap.release(large, anyKind));
  CHECK_FALSE(heap.isAccessible(large, 1));
  CHECK(heap.allocate(100, MemoryKind::Device) == small);
  CHECK(heap.allocate(1 << 20, MemoryKind::Device) == large);
  CHECK_FALSE(heap.isAccessible(large, (1 << 20) + 1));
  heap.releaseAll();
}

TEST_CASE("foreign ranges are found after adoption and stay valid memory without it") {
  Heap& heap = Heap::instance();
  char buffer[64] = {};
  CHECK(heap.isAccessible(buffer, sizeof buffer));
  CHECK_FALSE(heap.find(buffer));
  CHECK(heap.adopt(buffer, sizeof buffer, MemoryKind::Host, 0));
  CHECK_FALSE(heap.adopt(buffer + 8, 8, MemoryKind::Host, 0));
  CHECK(heap.find(buffer + 63)->base == reinterpret_cast<uintptr_t>(buffer));
  CHECK_FALSE(heap.release(buffer, anyKind));
  CHECK(heap.disown(buffer));
  CHECK_FALSE(heap.disown(buffer));
}

TEST_CASE("memory another library serves counts as used until it is disowned") {
  Heap& heap = Heap::instance();
  static char buffer[1000];
  const size_t before = heap.usedBytes();
  CHECK(heap.adoptServed(buffer, sizeof buffer, MemoryKind::Device));
  CHECK(heap.usedBytes() == before + sizeof buffer);
  CHECK_FALSE(heap.adoptServed(buffer, sizeof buffer, MemoryKind::Device));
  CHECK(heap.disown(buffer));
  CHECK(heap.usedBytes() == before);
  CHECK_FALSE(heap.adoptServed(buffer, heap.totalBytes() + 1, MemoryKind::Device));
  CHECK(heap.adopt(buffer, sizeof buffer, MemoryKind::Host, 0));
  CHECK(heap.usedBytes() == before);
  CHECK(heap.disown(buffer));
}

TEST_CASE("more than the machine has is refused") {
  CHECK(Heap::instance().allocate(size_t{1} << 50, MemoryKind::Device) == nullptr);
}

TEST_CASE("threads allocate and free at once") {
  std::vector<std::thread> threads;
  for (int id = 0; id < 4; ++id)
    threads.emplace_back([id] {
      for (int round = 0; round < 200; ++round) {
        const size_t bytes = size_t{1} << (8 + (round + id) % 12);
        auto* pointer = static_cast<char*>(Heap::instance().allocate(bytes, MemoryKind::Device));
        std::memset(pointer, id, bytes);
        CHECK(pointer[bytes - 1] == id);
        Heap::instance().release(pointer, anyKind);
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  CHECK(Heap::instance().usedBytes() == 0);
}

TEST_CASE("what is mapped piece by piece is one range, what is allocated is not") {
  Heap& heap = Heap::instance();
  static char buffer[4096];
  CHECK(heap.adoptServed(buffer, 1024, MemoryKind::Device, true));
  CHECK(heap.adoptServed(buffer + 1024, 1024, MemoryKind::Device, true));
  CHECK(heap.adoptServed(buffer + 2048, 1024, MemoryKind::Device));
  CHECK(heap.isAccessible(buffer + 10, 2000));
  CHECK_FALSE(heap.isAccessible(buffer + 10, 2100));
  for (const int part : {0, 1024, 2048})
    CHECK(heap.disown(buffer + part));
}
