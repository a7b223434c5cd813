#include "runtime/core/base/word_ranges.h"

#include <doctest/doctest.h>

#include <map>
#include <random>

using namespace mneme;

namespace {

using Hits = std::map<size_t, std::pair<uint64_t, size_t>>; ///< offset: word, range

Hits hitsOf(const WordRanges& ranges, std::span<const std::byte> bytes, uint64_t address) {
  Hits hits;
  ranges.visit(bytes, address,
               [&](size_t offset, uint64_t word, size_t index) { hits[offset] = {word, index}; });
  return hits;
}

template <typename T> std::span<const std::byte> bytesOf(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

} // namespace

TEST_CASE("a range holds its first byte and not the one behind its last") {
  const WordRanges ranges({{0x2000, 16}, {0x1000, 8}});
  CHECK(ranges.ranges() == std::vector<AddressRange>{{0x1000, 8}, {0x2000, 16}});
  CHECK(ranges.find(0xfff) == WordRanges::kNone);
  CHECK(ranges.find(0x1000) == 0);
  CHECK(ranges.find(0x1007) == 0);
  CHECK(ranges.find(0x1008) == WordRanges::kNone);
  CHECK(ranges.find(0x200f) == 1);
  CHECK(ranges.find(0x2010) == WordRanges::kNone);
  CHECK(ranges.find(0) == WordRanges::kNone);
  CHECK(WordRanges().find(0x1000) == WordRanges::kNone);
}

TEST_CASE("empty and overlapping ranges never match") {
  const WordRanges ranges({{0x1000, 0}, {0x2000, 0x100}, {0x2010, 8}, {0x3000, 0}});
  CHECK(ranges.ranges() == std::vector<AddressRange>{{0x2000, 0x100}});
  CHECK(WordRanges({{5, 0}}).isEmpty());
}

TEST_CASE("only words at multiples of eight are looked at") {
  const WordRanges ranges({{0x1000, 0x1000}});
  std::vector<uint64_t> words = {0x1001, 7, 0x1ff8};
  CHECK(hitsOf(ranges, bytesOf(words), 0x500000) == Hits{{0, {0x1001, 0}}, {16, {0x1ff8, 0}}});
  // The same bytes four further: no word of them is aligned as they are.
  CHECK(hitsOf(ranges, bytesOf(words), 0x500004).empty());
  CHECK(hitsOf(ranges, bytesOf(words).subspan(4), 0x500004) == Hits{{12, {0x1ff8, 0}}});
  CHECK(hitsOf(ranges, bytesOf(words).first(23), 0x500000) == Hits{{0, {0x1001, 0}}});
  CHECK(hitsOf(ranges, bytesOf(words).first(3), 0x500001).empty());
  CHECK(hitsOf(WordRanges(), bytesOf(words), 0x500000).empty());
}

TEST_CASE("every word of random memory is found, and no other") {
  std::mt19937_64 random(7);
  for (size_t count : {1u, 2u, 5u, 40u, 300u}) {
    std::vector<AddressRange> list;
    for (uint64_t i = 0, at = 0x10000; i < count; ++i, at += random() % 3 ? 0x1000 : 0x7000000000)
      list.push_back({at, 1 + random() % 0xfff});
    std::shuffle(list.begin(), list.end(), random);
    const WordRanges ranges(list);
    std::vector<uint64_t> words(5000);
    Hits expected;
    for (size_t i = 0; i < words.size(); ++i) {
      words[i] = random();
      if (random() % 50 != 0)
        continue;
      const AddressRange& near = list[random() % count];
      words[i] = near.begin - 2 + random() % (near.sizeBytes + 4);
      for (size_t k = 0; k < count; ++k)
        if (words[i] - ranges.ranges()[k].begin < ranges.ranges()[k].sizeBytes)
          expected[8 * i] = {words[i], k};
    }
    CHECK(hitsOf(ranges, bytesOf(words), 0x40) == expected);
  }
}
