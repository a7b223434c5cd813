// What finding pageable memory costs the program, and what it does where the system refuses.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include <doctest/doctest.h>
#include <malloc.h>
#include <sys/mman.h>

#include "runtime/core/base/error.h"
#include "runtime/recorder/pageable_memory.h"
#include "runtime/recorder/program_frames.h"
#include "runtime/recorder/touched_pages.h"
#include "tests/unit/record/refused_reads.h"

using namespace mneme;
using namespace mneme::record;

namespace {

uint64_t addressOf(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

/// Pages that are reserved only, as a mapping.
struct Reserved {
  explicit Reserved(uint64_t count)
      : sizeBytes(count * page),
        bytes(static_cast<char*>(mmap(nullptr, sizeBytes, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    madvise(bytes, sizeBytes, MADV_NOHUGEPAGE);
  }
  ~Reserved() { munmap(bytes, sizeBytes); }
  Mapping mapping() const { return {begin(), begin() + sizeBytes, true, true, false, ""}; }
  uint64_t begin() const { return addressOf(bytes); }
  /// Puts what malloc writes in front of a block that it maps.
  void putBlock(uint64_t at, uint64_t pages) {
    const uint64_t header[2] = {0, (pages * page) | 2};
    std::memcpy(bytes + at * page, header, sizeof header);
  }
  uint64_t touched() const {
    TouchedPages pages;
    uint64_t count = 0;
    for (auto at = pages.next(begin(), begin() + sizeBytes); at && *at < begin() + sizeBytes;
         at = pages.next(*at + page, begin() + sizeBytes))
      ++count;
    return count;
  }
  const uint64_t page = systemPageBytes();
  uint64_t sizeBytes;
  char* bytes;
};

int table[100] = {1};

} // namespace

TEST_CASE("where the system lets no memory be read, none is found, and nothing is zeros") {
  PageableMemory memory;
  memory.look();
  CHECK(memory.refusal() == 0);
  bool isRefused = false, isThrown = false, isFound = true, hasRanges = true;
  int refusal = 0;
  std::byte copy[8] = {std::byte{7}};
  std::thread([&] {
    isRefused = test::refuseReads(EPERM);
    memory.look();
    refusal = memory.refusal();
    isFound = memory.find(addressOf(table), PageableMemory::Given::AsArgument).has_value();
    hasRanges = !memory.ranges().empty();
    try {
      copyHost(addressOf(table), copy);
    } catch (const Error& error) {
      isThrown = error.code() == ErrorCode::Unsupported;
    }
  }).join();
  if (!isRefused)
    return; // a container may have filters of its own
  CHECK(refusal == EPERM);
  CHECK_FALSE(isFound);
  CHECK_FALSE(hasRanges);
  CHECK(isThrown);
  CHECK(copy[0] == std::byte{7});
  memory.look(); // as another thread may
  CHECK(memory.refusal() == 0);
  CHECK(memory.find(addressOf(table), PageableMemory::Given::AsArgument));
}

TEST_CASE("pages that nobody touched stay so, and blocks among them are found") {
  Reserved pages((8ull << 30) / systemPageBytes());
  pages.putBlock(0, 100);
  pages.putBlock(100, 200);
  pages.putBlock(1'000'000, 100);
  if (pages.touched() != 3)
    return; // the system does not tell
  MallocBlocks blocks;
  const auto part = [&](uint64_t at) {
    return blocks.inAnonymous(pages.mapping(), pages.begin() + at * pages.page);
  };
  const auto isBlock = [&](uint64_t at, uint64_t first, uint64_t count) {
    const auto found = part(at);
    return found && found->isBlock &&
           found->range ==
               AddressRange{pages.begin() + first * pages.page + 16, count * pages.page - 16};
  };
  CHECK(isBlock(50, 0, 100));
  CHECK(isBlock(299, 100, 200));
  CHECK(isBlock(1'000'050, 1'000'000, 100));
  const auto between = part(300);
  REQUIRE(between);
  CHECK_FALSE(between->isBlock);
  CHECK(between->range.begin == pages.begin() + 300 * pages.page);
  CHECK(between->range.sizeBytes == (1'000'000 - 300) * pages.page);
  CHECK(blocks.pagesRead() == 3);
  CHECK(pages.touched() == 3);
}

TEST_CASE("what is known of a mapping stays known while it is the same and has the same blocks") {
  Reserved pages(1000);
  pages.putBlock(0, 100);
  for (size_t at = 100; at < 1000; ++at)
    pages.bytes[at * pages.page] = 1;
  MallocBlocks blocks;
  const Mapping mapping = pages.mapping();
  const auto sizeAt = [&](uint64_t at) {
    const auto found = blocks.inAnonymous(mapping, pages.begin() + at * pages.page);
    return found ? found->range.sizeBytes : 0;
  };
  CHECK(sizeAt(500) == 900 * pages.page);
  const uint64_t read = blocks.pagesRead();
  CHECK(read == 901);
  blocks.look({&mapping, 1});
  CHECK(sizeAt(500) == 900 * pages.page);
  CHECK(sizeAt(600) == 900 * pages.page);
  CHECK(blocks.pagesRead() == read + 1); // the block
  pages.putBlock(0, 200);
  CHECK(sizeAt(500) == 900 * pages.page);
  blocks.look({&mapping, 1});
  CHECK(sizeAt(500) == 800 * pages.page);
  Mapping longer = mapping;
  longer.end += pages.page;
  const uint64_t again = blocks.pagesRead();
  blocks.look({&longer, 1});
  blocks.look({&mapping, 1});
  CHECK(sizeAt(500) == 800 * pages.page);
  CHECK(blocks.pagesRead() > again + 1);
}

TEST_CASE("so much memory of others is looked at, and so many chunks, and no more") {
  Reserved pages(300);
  for (size_t at = 0; at < 100; ++at)
    pages.bytes[at * pages.page] = 1;
  pages.putBlock(100, 50);
  MallocBlocks blocks(7, 60), enough(8, 101);
  const Mapping mapping = pages.mapping();
  CHECK_FALSE(blocks.inAnonymous(mapping, mapping.begin)); // what follows is unknown
  CHECK(blocks.pagesRead() == 60);
  CHECK(enough.inAnonymous(mapping, mapping.begin + 120 * pages.page));
  CHECK_FALSE(MallocBlocks(7, 101).inAnonymous(mapping, mapping.begin + 200 * pages.page));
  const Reserved heap(1);
  for (size_t chunk = 0; chunk < 8; ++chunk) {
    const uint64_t size = (heap.page / 8) | 1;
    std::memcpy(heap.bytes + chunk * heap.page / 8 + 8, &size, sizeof size);
  }
  CHECK(enough.inHeap(heap.mapping(), heap.begin() + 100));
  CHECK_FALSE(blocks.inHeap(heap.mapping(), heap.begin() + 100));
}

TEST_CASE("blocks are known in a heap that shrank or grew since its mapping was read") {
  // Below the size from which malloc maps a block by itself, which grows with what is freed.
  const auto take = [] {
    std::vector<std::unique_ptr<char[]>> taken(60);
    for (auto& block : taken)
      block = std::make_unique_for_overwrite<char[]>(60'000);
    return taken;
  };
  const auto heapNow = [] {
    const std::vector<Mapping> mappings = hostMappings();
    const auto found = std::ranges::find(mappings, "[heap]", &Mapping::name);
    return found == mappings.end() ? Mapping() : *found;
  };
  auto kept = std::make_unique<char[]>(1000);
  auto many = take();
  const Mapping larger = heapNow();
  many.clear();
  malloc_trim(0);
  const Mapping smaller = heapNow();
  const auto isKnown = [&](const Mapping& heap) {
    const auto block = MallocBlocks().inHeap(heap, addressOf(kept.get()) + 500);
    return block && block->begin == addressOf(kept.get());
  };
  if (smaller.end >= larger.end || addressOf(kept.get()) - larger.begin >= 1ull << 40) {
    MESSAGE("another allocator, or one that keeps all");
    return;
  }
  CHECK(isKnown(larger));
  many = take();
  CHECK(isKnown(smaller));
}

TEST_CASE("a heap that was known is looked at for longer, and named when it is lost") {
  const Reserved heap(2);
  const auto put = [&](size_t at, uint64_t size) {
    std::memcpy(heap.bytes + at + 8, &size, sizeof size);
  };
  put(0, 0x100 | 1);
  put(0x100, (2 * heap.page - 0x100) | 1);
  const Mapping mapping = heap.mapping();
  const auto isKnown = [&](MallocBlocks& blocks) {
    blocks.look({&mapping, 1});
    return blocks.inHeap(mapping, heap.begin() + 0x20).has_value();
  };
  MallocBlocks hasty(7, 7, std::chrono::microseconds(1)), patient(7, 7, std::chrono::hours(1));
  for (MallocBlocks* const blocks : {&hasty, &patient}) {
    CHECK(isKnown(*blocks));
    CHECK_FALSE(blocks->isHeapLost());
  }
  put(0x100, 7); // another thread divides it
  CHECK_FALSE(isKnown(hasty));
  CHECK(hasty.isHeapLost());
  hasty.look({&mapping, 1});
  CHECK_FALSE(hasty.isHeapLost());
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    put(0x100, (2 * heap.page - 0x100) | 1);
  });
  CHECK(isKnown(patient));
  other.join();
  CHECK_FALSE(patient.isHeapLost());
  put(0x100, 7);
  MallocBlocks others(7, 7, std::chrono::hours(1));
  CHECK_FALSE(isKnown(others));
  CHECK_FALSE(others.isHeapLost()); // another allocator's
}

TEST_CASE("frames end with the stack, and grow") {
  const std::vector<uint64_t> frames = framesOutside({});
  REQUIRE(frames.size() > 3);
  CHECK(std::ranges::adjacent_find(frames, std::ranges::greater_equal()) == frames.end());
  const std::vector<uint64_t> fewer = framesOutside({}, frames[2]);
  CHECK(fewer.back() == frames[2]);
  CHECK(framesOutside({}, 1).empty());
}
