// Hashing, diffing and copying against hash128 and memcpy.
#include "cpu_runner.h"

#include <algorithm>
#include <random>

#include "runtime/core/base/hash.h"
#include "runtime/devices/bulk/launch_plan.h"
#include "runtime/devices/bulk/layout.h"

using namespace mneme;
using namespace mneme::device;

namespace {

std::mt19937_64 random_(20);

uint64_t below(uint64_t limit) { return random_() % limit; }

std::vector<std::byte> randomBytes(size_t size) {
  std::vector<std::byte> bytes(size);
  for (auto& byte : bytes)
    byte = static_cast<std::byte>(random_());
  return bytes;
}

uint64_t addressOf(const std::vector<std::byte>& bytes, uint64_t offset = 0) {
  return reinterpret_cast<uint64_t>(bytes.data()) + offset;
}

void checkHashes(BulkOperations& bulk, const std::vector<std::byte>& memory,
                 const std::vector<std::pair<uint64_t, uint64_t>>& ranges, uint64_t pageBytes) {
  std::vector<std::vector<Hash128>> hashes;
  std::vector<HashRequest> requests;
  for (const auto& [offset, size] : ranges)
    hashes.emplace_back((size + pageBytes - 1) / pageBytes);
  for (size_t i = 0; i < ranges.size(); ++i)
    requests.push_back({addressOf(memory, ranges[i].first), ranges[i].second, hashes[i]});
  bulk.hashPages(requests, pageBytes);
  for (size_t i = 0; i < ranges.size(); ++i)
    for (size_t page = 0; page < hashes[i].size(); ++page) {
      const uint64_t at = page * pageBytes;
      const auto expected = hash128(std::span(memory).subspan(
          ranges[i].first + at, std::min(pageBytes, ranges[i].second - at)));
      REQUIRE_MESSAGE(hashes[i][page] == expected,
                      "range " << i << " page " << page << " of " << pageBytes << " bytes, offset "
                               << ranges[i].first << ", size " << ranges[i].second);
    }
}

} // namespace

TEST_CASE("a page of every length has the hash of the host") {
  test::CpuRunner runner;
  BulkOperations bulk(runner);
  const auto memory = randomBytes(20000);
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (uint64_t size = 1; size <= 260; ++size)
    ranges.emplace_back(below(64), size);
  for (uint64_t size : {511, 512, 513, 1023, 1024, 1025, 1087, 1088, 1089, 2048, 4095, 4096, 4097,
                        5120, 5121, 8192, 8193, 12345})
    for (uint64_t offset : {0, 1, 8, 16})
      ranges.emplace_back(offset, size);
  checkHashes(bulk, memory, ranges, 1 << 20);
}

TEST_CASE("pages of aligned ranges have the hashes of the host") {
  test::CpuRunner runner;
  BulkOperations bulk(runner);
  const auto memory = randomBytes(300000);
  const uint64_t shift = (16 - addressOf(memory) % 16) % 16;
  for (uint64_t pageBytes : {16, 256, 1024, 4096, 65536})
    checkHashes(bulk, memory, {{shift, 200000}, {shift + 4096, 4096}, {shift + 16, 0}, {shift, 7}},
                pageBytes);
}

TEST_CASE("random ranges and page sizes have the hashes of the host") {
  test::CpuRunner runner;
  BulkOperations bulk(runner);
  const auto memory = randomBytes(100000);
  for (int round = 0; round < 10; ++round) {
    std::vector<std::pair<uint64_t, uint64_t>> ranges;
    for (uint64_t count = below(8); count-- > 0;)
      ranges.emplace_back(below(1000), below(2) ? below(50000) : below(300));
    checkHashes(bulk, memory, ranges, 1 + below(below(2) ? 70000 : 2000));
  }
}

TEST_CASE("exactly the pages that differ are found") {
  test::CpuRunner runner;
  BulkOperations bulk(runner);
  const auto memory = randomBytes(200000);
  for (int round = 0; round < 20; ++round) {
    auto copy = memory;
    const uint64_t first = below(20), second = round % 2 ? first : below(20);
    const uint64_t size = below(2) ? below(150000) : below(100);
    const uint64_t pageBytes = 1 + below(below(2) ? 10000 : 400000);
    std::copy_n(memory.begin() + first, size, copy.begin() + second);
    for (uint64_t count = below(4); count-- > 0 && size > 0;)
      copy[second + below(size)] ^= static_cast<std::byte>(1 << below(8));
    if (below(3) == 0 && size > 0)
      copy[second + size - 1] ^= std::byte{1};
    std::vector<uint64_t> expected;
    for (uint64_t at = 0; at < size; at += pageBytes)
      if (memcmp(memory.data() + first + at, copy.data() + second + at,
                 std::min(pageBytes, size - at)) != 0)
        expected.push_back(at / pageBytes);
    REQUIRE(bulk.diffPages(addressOf(memory, first), addressOf(copy, second), size, pageBytes) ==
            expected);
  }
}

TEST_CASE("pages that hold addresses, and what these lead to, are found as on the host") {
  test::CpuRunner runner;
  BulkOperations bulk(runner);
  for (int round = 0; round < 12; ++round) {
    std::vector<AddressRange> targets;
    for (uint64_t i = 0, at = 0x7f0000000000; i < 1 + below(40); ++i, at += 0x1000 << below(20))
      targets.push_back({at, 1 + below(0x1000)});
    const WordRanges ranges(targets);
    auto memory = randomBytes(400000);
    for (uint64_t count = below(200); count-- > 0;) {
      const AddressRange& near = targets[below(targets.size())];
      const uint64_t word = near.begin - 1 + below(near.sizeBytes + 2);
      const uint64_t place = below(memory.size() - 8);
      memcpy(&memory[below(4) ? place - place % 8 : place], &word, 8);
    }
    const uint64_t pageBytes = round % 2 ? 65536 : 8 * (1 + below(3000));
    std::vector<std::vector<uint8_t>> flags;
    std::vector<SearchRequest> requests;
    for (uint64_t i = 0; i < 5; ++i) {
      const uint64_t offset = below(3) ? 16 * below(100) : below(1000);
      const uint64_t size = below(3) ? below(390000) : below(40);
      flags.emplace_back((size + pageBytes - 1) / pageBytes, 7);
      requests.push_back({addressOf(memory, offset), size, flags.back()});
    }
    std::vector<uint8_t> expected(targets.size());
    const std::vector<uint8_t> isReached = bulk.searchPages(requests, pageBytes, ranges);
    for (size_t i = 0; i < requests.size(); ++i)
      for (size_t page = 0; page < flags[i].size(); ++page) {
        const uint64_t at = requests[i].address + page * pageBytes;
        const uint64_t size = std::min(pageBytes, requests[i].sizeBytes - page * pageBytes);
        bool holdsAddress = false;
        ranges.visit({reinterpret_cast<const std::byte*>(at), size}, at,
                     [&](size_t, uint64_t, size_t index) {
                       holdsAddress = true;
                       expected[index] = 1;
                     });
        REQUIRE(flags[i][page] == holdsAddress);
      }
    REQUIRE(isReached == expected);
  }
}

TEST_CASE("a search without targets or pages finds nothing") {
  test::CpuRunner runner;
  BulkOperations bulk(runner);
  const auto memory = randomBytes(100);
  std::vector<uint8_t> flags(1, 7);
  const SearchRequest request{addressOf(memory), 100, flags};
  CHECK(bulk.searchPages({&request, 1}, 4096, WordRanges()).empty());
  CHECK(flags[0] == 0);
  CHECK(bulk.searchPages({}, 4096, WordRanges({{0x1000, 8}})) == std::vector<uint8_t>{0});
  CHECK(runner.launches == 0);
}

TEST_CASE("ranges of any size and alignment are copied, and nothing else is touched") {
  test::CpuRunner runner;
  BulkOperations bulk(runner);
  const auto source = randomBytes(1000000);
  for (int round = 0; round < 10; ++round) {
    auto destination = randomBytes(1200000);
    auto expected = destination;
    std::vector<CopyRange> ranges;
    for (uint64_t at = 0; at < 700000;) {
      const uint64_t size = below(3) == 0 ? below(200000) : below(2) ? below(40) : below(5000);
      const uint64_t from = below(2) ? at % 16 : below(400000);
      ranges.push_back({addressOf(destination, at), addressOf(source, from), size});
      std::copy_n(source.begin() + from, size, expected.begin() + at);
      at += size + below(50);
    }
    bulk.restore(ranges);
    REQUIRE(destination == expected);
  }
}

TEST_CASE("ranges that continue each other are copied as one") {
  test::CpuRunner runner;
  BulkOperations bulk(runner);
  const auto source = randomBytes(100000);
  std::vector<std::byte> destination(100000);
  std::vector<CopyRange> ranges;
  for (uint64_t at = 0; at < source.size(); at += 1000)
    ranges.push_back({addressOf(destination, at), addressOf(source, at), 1000});
  bulk.restore(ranges);
  CHECK(destination == source);
  CHECK(runner.lastTableBytes == sizeof(mneme::device::bulk::Range));
}

/// Notes what goes where, and copies nothing.
class NotingRunner final : public mneme::device::BulkRunner {
public:
  void launch(BulkModule, const char*, uint32_t, uint32_t, std::span<void* const>) override {
    ++launches;
  }
  void copyToDevice(uint64_t, const void*, size_t) override {}
  void copyToHost(void*, uint64_t, size_t) override {}
  void clear(uint64_t, size_t) override {}
  void copyOnDevice(uint64_t, uint64_t, size_t sizeBytes) override { copied.push_back(sizeBytes); }
  uint64_t scratch(size_t) override { return 4096; }
  uint32_t multiprocessors() const override { return 1; }

  size_t launches = 0;
  std::vector<size_t> copied;
};

TEST_CASE("a copy of the vendor never reaches from one allocation into the next") {
  NotingRunner runner;
  BulkOperations bulk(runner);
  constexpr uint64_t source = 1ull << 40, destination = 1ull << 41, size = 200ull << 20;
  const CopyRange neighbours[] = {{destination, source, size},
                                  {destination + size, source + size, size}};
  bulk.restore(neighbours);
  CHECK(runner.copied.empty());
  CHECK(runner.launches == 1);
  const CopyRange large[] = {{destination, source, 2 * size},
                             {destination + 2 * size, source + 2 * size, 2 * size}};
  bulk.restore(large);
  CHECK(runner.copied == std::vector<size_t>{2 * size, 2 * size});
}

TEST_CASE("nothing to do starts nothing") {
  test::CpuRunner runner;
  BulkOperations bulk(runner);
  const CopyRange empty;
  const HashRequest nothing;
  bulk.restore({});
  bulk.restore({&empty, 1});
  bulk.hashPages({}, 4096);
  bulk.hashPages({&nothing, 1}, 4096);
  CHECK(bulk.diffPages(4096, 8192, 0, 4096).empty());
  CHECK(bulk.compare({}).empty());
  const CompareRequest same;
  CHECK(bulk.compare({&same, 1}).at(0).isAccepted);
  CHECK(runner.launches == 0);
}

TEST_CASE("the embedded PTX is of an old version and has the bounds its kernels are started with") {
  using namespace mneme::device::bulk;
  for (BulkModule module : {BulkModule::Memory, BulkModule::Compare}) {
    const std::string_view text = bulkPtx(module);
    CHECK(text.find(".version 6.3") != std::string_view::npos);
    CHECK(text.find(".target sm_70") != std::string_view::npos);
    CHECK(text.data()[text.size()] == 0);
  }
  for (const Kernel& kernel :
       {hashPages, hashAlignedPages, diffPages, copyRanges, compareScan, compareFloats,
        compareElements, compareFloatNorms, compareNorms, compareGroups}) {
    const std::string_view text = bulkPtx(kernel.module);
    const size_t at = text.find(std::string(".entry ") + kernel.name + "(");
    REQUIRE_MESSAGE(at != std::string_view::npos, kernel.name);
    const std::string_view head = text.substr(at, text.find('{', at) - at);
    CHECK(head.find(".maxntid " + std::to_string(blockThreads) + ", 1, 1") !=
          std::string_view::npos);
    CHECK(head.find(".minnctapersm " + std::to_string(kernel.residentBlocks)) !=
          std::string_view::npos);
  }
}
