#include "runtime/recorder/pageable_memory.h"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

#include <doctest/doctest.h>
#include <malloc.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/recorder/backends/gpu/mirrors.h"
#include "runtime/recorder/program_frames.h"

using namespace mneme;
using namespace mneme::record;

namespace {

constexpr size_t kPage = 4096;
int table[1000] = {1};
int zeros[77];

uint64_t addressOf(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

std::optional<PageableMemory::Piece>
pieceAt(const void* pointer, PageableMemory::Given given = PageableMemory::Given::AsArgument) {
  PageableMemory memory;
  memory.look();
  return memory.find(addressOf(pointer), given);
}

bool isExactly(const std::optional<PageableMemory::Piece>& piece, const void* begin,
               size_t sizeBytes) {
  return piece && piece->isExact && piece->range == AddressRange{addressOf(begin), sizeBytes};
}

/// Sanitizers have a malloc of their own, whose memory counts as unknown.
bool isMallocOfGlibc() {
  const auto heap = [](const Mapping& mapping) { return mapping.name == "[heap]"; };
  void* const probe = std::malloc(100);
  const std::vector<Mapping> mappings = hostMappings();
  const Mapping* const mapping = mappingAt(mappings, addressOf(probe));
  const bool isIn = mapping && heap(*mapping);
  std::free(probe);
  return isIn;
}

/// Pages that lie alone, as a mapping.
struct Pages {
  explicit Pages(size_t count, int flags = MAP_PRIVATE | MAP_ANONYMOUS, int file = -1)
      : sizeBytes(count * kPage) {
    reserved = static_cast<char*>(
        mmap(nullptr, sizeBytes + 4 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    // Read-only pages in front: what is behind pages that nobody may use counts as a stack.
    mprotect(reserved, 2 * kPage, PROT_READ);
    begin = reserved + 2 * kPage;
    mmap(begin, sizeBytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED, file, 0);
  }
  ~Pages() { munmap(reserved, sizeBytes + 4 * kPage); }
  char* reserved = nullptr;
  char* begin = nullptr;
  size_t sizeBytes;
};

} // namespace

TEST_CASE("lines of the system's list of mappings are read") {
  const auto heap = mappingOf("55d0c0a00000-55d0c0a21000 rw-p 00000000 00:00 0    [heap]");
  CHECK(heap == Mapping{0x55d0c0a00000, 0x55d0c0a21000, true, true, false, "[heap]"});
  const auto file = mappingOf("7f00-8000 r--s 00000000 08:01 42 /tmp/a file (deleted)");
  CHECK(file == Mapping{0x7f00, 0x8000, true, false, true, "/tmp/a file (deleted)"});
  const auto none = mappingOf("7f00-8000 ---p 00000000 00:00 0");
  REQUIRE(none);
  CHECK((none->isAnonymous() && !none->isReadable));
  for (const char* wrong : {"", "7f00", "8000-7f00 rw-p 0 0 0", "x-y rw-p", "7f00-8000 "})
    CHECK_FALSE(mappingOf(wrong));
}

TEST_CASE("memory that is gone is read as zeros") {
  Pages pages(3);
  std::memset(pages.begin, 7, pages.sizeBytes);
  munmap(pages.begin + kPage, kPage);
  std::vector<std::byte> bytes(3 * kPage - 10);
  CHECK(readHost(addressOf(pages.begin) + 10, bytes) == kPage - 10);
  copyHost(addressOf(pages.begin) + 10, bytes);
  CHECK(std::count(bytes.begin(), bytes.end(), std::byte{7}) == 2 * kPage - 10);
  CHECK(bytes[kPage - 10] == std::byte{0});
  CHECK(bytes.back() == std::byte{7});
}

TEST_CASE("blocks of malloc are found from any of their bytes") {
  if (!isMallocOfGlibc())
    return;
  char* const small = static_cast<char*>(std::malloc(1000));
  char* const large = static_cast<char*>(std::malloc(40 << 20));
  void* aligned = nullptr;
  REQUIRE(posix_memalign(&aligned, 1 << 20, 48 << 20) == 0);
  for (char* const block : {small, large}) {
    const size_t sizeBytes = malloc_usable_size(block);
    CHECK(isExactly(pieceAt(block), block, sizeBytes));
    CHECK(isExactly(pieceAt(block + 999), block, sizeBytes));
  }
  CHECK_FALSE(pieceAt(small - 8));
  const auto around = pieceAt(static_cast<char*>(aligned) + (48 << 20) - 1);
  REQUIRE(around);
  CHECK(around->isExact);
  CHECK(around->range.begin <= addressOf(aligned));
  CHECK(around->range.begin + around->range.sizeBytes ==
        addressOf(aligned) + malloc_usable_size(aligned));
  // Advice divides the mapping, but not the block.
  madvise(large + kPage - addressOf(large) % kPage, 20 << 20, MADV_NOHUGEPAGE);
  CHECK(isExactly(pieceAt(large + (30 << 20)), large, malloc_usable_size(large)));
  for (void* const block : {static_cast<void*>(small), static_cast<void*>(large), aligned})
    std::free(block);
}

TEST_CASE("neither free chunks nor a heap whose sizes do not lead to its end have blocks") {
  const Pages pages(2);
  const auto put = [&](size_t at, uint64_t size) {
    std::memcpy(pages.begin + at + 8, &size, sizeof size);
  };
  put(0, 0x100 | 1);
  put(0x100, 0x400 | 1);
  put(0x500, 0xb00); // the one before is free
  put(0x1000, 0x1000 | 1);
  const uint64_t begin = addressOf(pages.begin);
  const Mapping heap{begin, begin + pages.sizeBytes, true, true, false, "[heap]"};
  MallocBlocks blocks;
  const auto isBlock = [&](size_t at, size_t first, size_t sizeBytes) {
    return blocks.inHeap(heap, begin + at) == AddressRange{begin + first, sizeBytes};
  };
  CHECK(isBlock(0x10, 0x10, 0xf8));
  CHECK(isBlock(0x107, 0x10, 0xf8)); // a block takes the first word of the next chunk
  CHECK_FALSE(blocks.inHeap(heap, begin + 0x108));
  CHECK_FALSE(blocks.inHeap(heap, begin + 0x200)); // free
  CHECK(isBlock(0xfff, 0x510, 0xaf8));
  CHECK_FALSE(blocks.inHeap(heap, begin + 0x1100)); // what is left of the heap
  put(0x1000, 0x800 | 1);
  CHECK_FALSE(MallocBlocks().inHeap(heap, begin + 0x10));
  put(0x1000, 0x1010 | 1);
  CHECK_FALSE(MallocBlocks().inHeap(heap, begin + 0x10));
}

TEST_CASE("small blocks that a thread keeps for its next calls are free") {
  if (!isMallocOfGlibc())
    return;
  std::vector<char*> blocks;
  for (int i = 0; i < 3; ++i)
    blocks.push_back(static_cast<char*>(std::malloc(876))); // a size that nothing else has
  const auto isFound = [&] {
    PageableMemory memory;
    memory.look();
    return memory.find(addressOf(blocks[1]), PageableMemory::Given::InMemory).has_value();
  };
  CHECK(isFound());
  std::free(blocks[1]);
  CHECK_FALSE(isFound());
  std::free(blocks[0]);
  std::free(blocks[2]);
}

TEST_CASE("blocks of other threads, and not their stacks") {
  if (!isMallocOfGlibc())
    return;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<char*> blocks;
  char* local = nullptr;
  bool isOver = false;
  std::thread thread([&] {
    char onStack[64] = {};
    std::vector<char*> made;
    for (int i = 0; i < 100; ++i)
      made.push_back(static_cast<char*>(std::malloc(1000)));
    std::unique_lock lock(mutex);
    blocks = made;
    local = onStack;
    changed.notify_all();
    changed.wait(lock, [&] { return isOver; });
    std::ranges::for_each(made, std::free);
  });
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return local != nullptr; });
  }
  char* const block = blocks[50];
  const auto piece = pieceAt(block + 500);
  const size_t sizeBytes = malloc_usable_size(block);
  const bool isStackFound = pieceAt(local).has_value();
  {
    const std::lock_guard lock(mutex);
    isOver = true;
  }
  changed.notify_all();
  thread.join();
  CHECK(isExactly(piece, block, sizeBytes));
  CHECK_FALSE(isStackFound);
}

TEST_CASE("variables are found by their symbols") {
  static double inFunction[33] = {2};
  CHECK(isExactly(pieceAt(table + 3), table, sizeof table));
  CHECK(isExactly(pieceAt(zeros), zeros, sizeof zeros));
  CHECK(isExactly(pieceAt(&inFunction[32]), inFunction, sizeof inFunction));
  CHECK_FALSE(pieceAt("a text without a name"));
  CHECK_FALSE(pieceAt(reinterpret_cast<const void*>(&addressOf)));
}

TEST_CASE("memory that the program maps is found with its mapping") {
  const Pages pages(20);
  const auto piece = pieceAt(pages.begin + 5 * kPage);
  REQUIRE(piece);
  CHECK_FALSE(piece->isExact);
  CHECK(piece->range == AddressRange{addressOf(pages.begin), pages.sizeBytes});
  const int file = memfd_create("mapped", MFD_CLOEXEC);
  REQUIRE(ftruncate(file, 3 * kPage) == 0);
  const Pages shared(3, MAP_SHARED, file);
  close(file);
  CHECK(isExactly(pieceAt(shared.begin + 1), shared.begin, shared.sizeBytes));
  CHECK_FALSE(pieceAt(shared.begin + shared.sizeBytes));
  CHECK_FALSE(pieceAt(nullptr));
}

TEST_CASE("mappings of more than a limit are not found") {
  const Pages pages((1ull << 30) / kPage + 1, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
  CHECK_FALSE(pieceAt(pages.begin));
}

TEST_CASE("a block of malloc divides memory that is mapped around it") {
  const Pages pages(100);
  struct {
    uint64_t before = 0, size = (200 << 10) | 2;
  } header;
  std::memcpy(pages.begin + 10 * kPage, &header, sizeof header);
  CHECK(isExactly(pieceAt(pages.begin + 12 * kPage), pages.begin + 10 * kPage + 16,
                  (200 << 10) - 16));
  const auto front = pieceAt(pages.begin), behind = pieceAt(pages.begin + 99 * kPage);
  REQUIRE((front && behind));
  CHECK(front->range.sizeBytes == 10 * kPage);
  CHECK(behind->range.begin == addressOf(pages.begin) + 60 * kPage);
  CHECK(behind->range.sizeBytes == 40 * kPage);
}

TEST_CASE("frames of the callers are those of the program") {
  int local = 0;
  const std::vector<uint64_t> frames = framesOutside({});
  REQUIRE(frames.size() > 2);
  CHECK(std::ranges::is_sorted(frames));
  CHECK(frames.front() <= addressOf(&local));
  CHECK(frames.back() > addressOf(&local));
  CHECK(frames.back() <= getauxval(AT_EXECFN));
  CHECK(programFrames().size() < frames.size()); // its callers are those of this file
}

TEST_CASE("an address in memory leads to blocks and variables, and not to whole mappings") {
  constexpr auto kInMemory = PageableMemory::Given::InMemory;
  const Pages pages(20);
  CHECK(pieceAt(pages.begin));
  CHECK_FALSE(pieceAt(pages.begin, kInMemory));
  CHECK(isExactly(pieceAt(table, kInMemory), table, sizeof table));
  CHECK(pieceAt(&stdout)); // of a library, or a copy in the program
  if (isMallocOfGlibc()) {
    void* const large = std::malloc(40 << 20);
    CHECK(isExactly(pieceAt(large, kInMemory), large, malloc_usable_size(large)));
    std::free(large);
  }
}

TEST_CASE("what was found is known, until the next look") {
  PageableMemory memory;
  memory.look();
  CHECK_FALSE(memory.isFound(addressOf(table)));
  memory.find(addressOf(table + 1), PageableMemory::Given::InMemory);
  CHECK(memory.isFound(addressOf(table)));
  const auto ranges = memory.ranges();
  CHECK(std::ranges::any_of(ranges, [&](const AddressRange& range) {
    return addressOf(table) - range.begin < range.sizeBytes;
  }));
  memory.look();
  CHECK_FALSE(memory.isFound(addressOf(table)));
}

TEST_CASE("words that still change behind a launch are as they were before it") {
  static uint64_t words[20'000];
  artifact::Region region;
  region.address = addressOf(words);
  region.sizeBytes = sizeof words - 3; // not whole words
  std::vector<Hash128> first(3), second(3);
  const HashTask prologue{&region, first}, epilogue{&region, second};
  gpu::Mirrors before, after, none;
  int pauses = 0;
  static int* const counted = &pauses;
  const auto pause = [] {
    ++*counted;
    words[7] = 3;
    words[9000] = 3;
  };
  words[7] = words[8] = words[9000] = 1;
  gpu::hashMirrored({&prologue, 1}, nullptr, before, pause);
  CHECK(pauses == 0);
  gpu::hashMirrored({&epilogue, 1}, &before, none, pause);
  CHECK(pauses == 0); // nothing has changed
  CHECK(first == second);
  words[7] = words[8] = 2;
  gpu::hashMirrored({&epilogue, 1}, &before, after, pause);
  CHECK(pauses == 1);
  const auto wordOf = [&](size_t index) {
    uint64_t word = 0;
    std::memcpy(&word, after.at(region.address).memory.get() + 8 * index, sizeof word);
    return word;
  };
  CHECK(wordOf(7) == 1); // another thread's
  CHECK(wordOf(8) == 2); // the kernel's
  CHECK(wordOf(9000) == 1);
  CHECK(first[0] != second[0]);
  CHECK(first[1] == second[1]);
}
