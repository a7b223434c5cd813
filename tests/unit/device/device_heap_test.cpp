#include <cstring>

#include <doctest/doctest.h>

#include "runtime/emulator/executor/device_heap.h"

using namespace mneme::device::cpu;

namespace {

/// How many extents hold the block as a whole.
int holders(const void* block, uint64_t bytes) {
  int found = 0;
  for (const HeapExtent& extent : heapExtents()) {
    const auto* begin = static_cast<const char*>(extent.base);
    const auto* wanted = static_cast<const char*>(block);
    found += wanted >= begin && wanted + bytes <= begin + extent.sizeBytes;
  }
  return found;
}

} // namespace

TEST_CASE("blocks in use are found, neighbours as one, and what is between them is not") {
  const size_t before = heapExtents().size();
  void* blocks[3] = {};
  for (void*& block : blocks) {
    block = heapAllocate(200);
    REQUIRE(block);
    CHECK(reinterpret_cast<uintptr_t>(block) % 16 == 0);
    std::memset(block, 0x55, 200);
  }
  CHECK(heapExtents().size() <= before + 1);
  for (void* block : blocks)
    CHECK(holders(block, 200) == 1);
  CHECK(heapRelease(blocks[1]));
  CHECK(holders(blocks[0], 200) == 1);
  CHECK(holders(blocks[1], 200) == 0);
  CHECK(holders(blocks[2], 200) == 1);
  CHECK_FALSE(heapRelease(blocks[1]));
  CHECK(heapRelease(blocks[0]));
  CHECK(heapRelease(blocks[2]));
  CHECK(heapExtents().size() == before);
}

TEST_CASE("the heap's state is the same when all is freed again") {
  const uint64_t before = heapState();
  void* small = heapAllocate(1);
  void* large = heapAllocate(3 << 20);
  REQUIRE(large);
  CHECK(heapState() != before);
  CHECK(heapRelease(small));
  CHECK(heapState() != before);
  CHECK(heapRelease(large));
  CHECK(heapState() == before);
  CHECK(heapAllocate(3 << 20) == large);
  CHECK(heapRelease(large));
}

TEST_CASE("the heap refuses anything that is not a block of its own and what nobody has") {
  int local = 0;
  CHECK_FALSE(heapRelease(&local));
  CHECK(heapRelease(nullptr));
  CHECK(heapAllocate(0) == nullptr);
  CHECK(heapAllocate(uint64_t{1} << 45) == nullptr);
}
