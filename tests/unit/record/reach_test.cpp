#include "runtime/recorder/reach.h"

#include <doctest/doctest.h>

#include <set>

using namespace mneme;
using namespace mneme::record;
using artifact::kChunkBytes;
using artifact::Region;

namespace {

uint64_t addressOf(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

/// Memory of whole words at an address of its own.
struct Block {
  explicit Block(size_t words) : words(words) {}
  Region region() const {
    Region region;
    region.address = addressOf(words.data());
    region.sizeBytes = words.size() * 8;
    return region;
  }
  uint64_t at(size_t byte = 0) const { return addressOf(words.data()) + byte; }
  std::vector<uint64_t> words;
};

/// Counts the bytes that are searched.
class CountingAccess final : public HostAccess {
public:
  CountingAccess() : HostAccess([](const Patience&) { return 0; }) {}
  SearchResult search(std::span<const Piece> pieces, const WordRanges& ranges) override {
    for (const Piece& piece : pieces)
      searchedBytes += piece.sizeBytes;
    return HostAccess::search(pieces, ranges);
  }
  uint64_t searchedBytes = 0;
};

bool canReadAll(const Region&) { return true; }

/// Hashes and searches `regions` and whatever they lead to, as a capture does.
std::vector<uint64_t> follow(Reach& reach, DeviceAccess& access, std::vector<Region> regions) {
  std::vector<uint64_t> found;
  while (!regions.empty() && reach.isOpen()) {
    std::vector<std::vector<Hash128>> hashes;
    for (const Region& region : regions)
      hashes.emplace_back((region.sizeBytes + kChunkBytes - 1) / kChunkBytes);
    std::vector<HashTask> tasks;
    for (size_t i = 0; i < regions.size(); ++i)
      tasks.push_back({&regions[i], hashes[i]});
    access.hash(tasks);
    reach.search(access, tasks);
    regions = reach.takeFound();
    for (const Region& region : regions)
      found.push_back(region.address);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<uint64_t> sorted(std::vector<uint64_t> values) {
  std::sort(values.begin(), values.end());
  return values;
}

} // namespace

TEST_CASE("pointers in memory lead to memory whose pointers lead on") {
  Block heap(3 * kChunkBytes / 8), table(100), node(4), far(40), alone(8);
  heap.words[2 * kChunkBytes / 8 + 5] = table.at();
  table.words[99] = node.at(9);       // into the middle, at no multiple of eight
  node.words[1] = far.at(40 * 8 - 1); // its last byte
  far.words[0] = alone.at(8 * 8);     // just behind it
  far.words[1] = node.at();           // back
  heap.words[7] = alone.at() << 8;    // no address of it
  CountingAccess access;
  SearchHistory history;
  Reach reach({far.region(), alone.region(), node.region(), table.region()}, {heap.region()},
              history, canReadAll);
  CHECK(reach.isOpen());
  CHECK(follow(reach, access, {heap.region()}) == sorted({table.at(), node.at(), far.at()}));
  CHECK(reach.isOpen()); // `alone` might still be found
}

TEST_CASE("an argument leads to memory, and nothing is searched once all is found") {
  Block heap(100), one(8);
  CountingAccess access;
  SearchHistory history;
  Reach reach({one.region()}, {heap.region()}, history, canReadAll);
  reach.lookAt(one.at(63));
  reach.lookAt(one.at());
  CHECK_FALSE(reach.isOpen());
  const std::vector<Region> found = reach.takeFound();
  REQUIRE(found.size() == 1);
  CHECK(found[0].address == one.at());
  CHECK(reach.takeFound().empty());
}

TEST_CASE("what is recorded in any case is not a candidate, nor what overlaps it") {
  Block heap(100), one(8);
  Region part = heap.region();
  part.address += 80;
  part.sizeBytes = 16;
  Region empty = one.region();
  empty.sizeBytes = 0;
  SearchHistory history;
  CHECK_FALSE(Reach({heap.region(), part, empty}, {heap.region()}, history, canReadAll).isOpen());
  CHECK_FALSE(Reach({}, {heap.region()}, history, canReadAll).isOpen());
}

TEST_CASE("what cannot be read is not found") {
  Block heap(100), gone(8), there(8);
  heap.words[0] = gone.at();
  heap.words[1] = there.at();
  CountingAccess access;
  SearchHistory history;
  Reach reach({gone.region(), there.region()}, {heap.region()}, history,
              [&](const Region& region) { return region.address == there.at(); });
  CHECK(follow(reach, access, {heap.region()}) == std::vector<uint64_t>{there.at()});
  CHECK_FALSE(reach.isOpen());
}

TEST_CASE("a second search looks only at what changed and at what held addresses") {
  const size_t words = kChunkBytes / 8;
  Block heap(4 * words), one(8), two(8);
  heap.words[words] = one.at();
  SearchHistory history;
  const auto search = [&](const std::vector<Region>& candidates) {
    CountingAccess access;
    Reach reach(candidates, {heap.region()}, history, canReadAll);
    const std::vector<uint64_t> found = follow(reach, access, {heap.region()});
    return std::pair(found, access.searchedBytes);
  };
  using Found = std::vector<uint64_t>;
  const std::vector<Region> both = {one.region(), two.region()};
  CHECK(search(both) == std::pair(Found{one.at()}, 4 * kChunkBytes + 64));
  CHECK(search(both) == std::pair(Found{one.at()}, kChunkBytes));
  heap.words[words] = 0;
  heap.words[3 * words + 9] = two.at();
  CHECK(search(both) == std::pair(Found{two.at()}, 2 * kChunkBytes + 64));
  CHECK(search(both) == std::pair(Found{two.at()}, kChunkBytes));
  // Fewer candidates need nothing new; one more needs everything.
  CHECK(search({two.region()}).second == kChunkBytes);
  CHECK(search(both) == std::pair(Found{two.at()}, 4 * kChunkBytes + 64));
}

TEST_CASE("a block that was freed and made again is another one") {
  SearchHistory history;
  const WordRanges ranges({{0x1000, 8}});
  Region region;
  region.address = 0x500000;
  region.sizeBytes = 2 * kChunkBytes;
  std::vector<Hash128> hashes = {{1, 2}, {3, 4}};
  history.begin(ranges);
  history.remember(region, hashes, 0, false);
  history.remember(region, hashes, 1, true);
  CHECK(history.unknownChunks(region, hashes) == std::vector<uint64_t>{1});
  region.sizeBytes += 8;
  hashes.push_back({5, 6});
  CHECK(history.unknownChunks(region, hashes).size() == 3);
}

TEST_CASE("what was known of a block is dropped when searches do not see it any more") {
  SearchHistory history;
  const WordRanges ranges(std::vector<AddressRange>{{0x1000, 8}});
  Region region;
  region.address = 0x500000;
  region.sizeBytes = kChunkBytes;
  const std::vector<Hash128> hashes = {{1, 2}};
  history.begin(ranges);
  history.remember(region, hashes, 0, false);
  history.begin(ranges);
  CHECK(history.unknownChunks(region, hashes).empty());
  history.begin(ranges);
  history.begin(ranges);
  history.begin(ranges);
  CHECK(history.unknownChunks(region, hashes).size() == 1);
}

TEST_CASE("memory mapped side by side is reached as one") {
  const Block block(4 * kChunkBytes / 8);
  std::vector<Region> pieces(4, block.region());
  for (size_t i = 0; i < pieces.size(); ++i) {
    pieces[i].sizeBytes = kChunkBytes;
    pieces[i].address = block.at(i * kChunkBytes);
  }
  const auto reached = [&](std::set<uint64_t> joints, const Reach::IsReadable& isReadable) {
    SearchHistory history;
    Reach reach(pieces, {}, history, isReadable, std::move(joints));
    reach.lookAt(block.at(kChunkBytes + 8));
    std::vector<size_t> found;
    for (const Region& region : reach.takeFound())
      found.push_back((region.address - block.at()) / kChunkBytes);
    std::sort(found.begin(), found.end());
    return found;
  };
  const std::set<uint64_t> all = {block.at(kChunkBytes), block.at(2 * kChunkBytes),
                                  block.at(3 * kChunkBytes)};
  CHECK(reached({}, canReadAll) == std::vector<size_t>{1});
  CHECK(reached(all, canReadAll) == std::vector<size_t>{0, 1, 2, 3});
  CHECK(reached({block.at(2 * kChunkBytes)}, canReadAll) == std::vector<size_t>{1, 2});
  // No further than what the device may use.
  CHECK(reached(all, [&](const Region& region) {
          return region.address != block.at(2 * kChunkBytes);
        }) == std::vector<size_t>{0, 1});
}

TEST_CASE("memory that nobody lists is asked about where words lead there") {
  Block heap(2 * kChunkBytes / 8), listed(8), node(10), far(20), other(4);
  heap.words[kChunkBytes / 8 + 3] = node.at(9);
  heap.words[5] = listed.at();
  node.words[2] = far.at(20 * 8 - 1);
  far.words[0] = other.at();
  far.words[1] = heap.at(8); // is recorded
  CountingAccess access;
  SearchHistory history;
  std::vector<uint64_t> asked;
  const auto find = [&](uint64_t address, bool isArgument) -> std::optional<Reach::Asked> {
    CHECK_FALSE(isArgument);
    asked.push_back(address);
    for (const Block* block : {&node, &far})
      if (address - block->at() < block->words.size() * 8)
        return Reach::Asked{block->region()};
    return std::nullopt;
  };
  uint64_t begin = heap.at(), end = heap.at();
  for (const Block* block : {&heap, &listed, &node, &far, &other}) {
    begin = std::min(begin, block->at());
    end = std::max(end, block->at(block->words.size() * 8));
  }
  const std::vector<AddressRange> ranges = {{begin, end - begin}};
  Reach reach({listed.region()}, {heap.region()}, history, canReadAll, {}, {ranges, find});
  CHECK(reach.isOpen());
  CHECK(follow(reach, access, {heap.region()}) == sorted({listed.at(), node.at(), far.at()}));
  CHECK(std::ranges::count(asked, other.at()) == 1);
  CHECK(std::ranges::count(asked, heap.at(8)) == 0);
  reach.lookAt(far.at(8)); // known
  CHECK(reach.takeFound().empty());
  CHECK_FALSE(reach.isFull());
}

TEST_CASE("memory on demand that overlaps recorded memory is left out") {
  Block heap(100);
  Region around = heap.region();
  around.address -= 64;
  around.sizeBytes += 64;
  SearchHistory history;
  Reach reach(
      {}, {heap.region()}, history, canReadAll, {},
      {{{around.address, around.sizeBytes}}, [&](uint64_t, bool) { return Reach::Asked{around}; }});
  reach.lookAt(around.address);
  CHECK(reach.takeFound().empty());
}

TEST_CASE("words of memory with other memory in it are not followed") {
  Block mapped(100), node(10);
  mapped.words[7] = node.at();
  for (const bool isFollowed : {true, false}) {
    CountingAccess access;
    SearchHistory history;
    const auto find = [&](uint64_t address, bool) -> std::optional<Reach::Asked> {
      return Reach::Asked{address == node.at() ? node.region() : mapped.region(), isFollowed};
    };
    Reach reach({}, {}, history, canReadAll, {}, {{{node.at(), 8}}, find});
    reach.lookAt(mapped.at());
    CHECK(follow(reach, access, reach.takeFound()).size() == (isFollowed ? 1 : 0));
  }
}
