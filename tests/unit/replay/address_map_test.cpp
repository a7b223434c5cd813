#include "runtime/replay/address_map.h"

#include <doctest/doctest.h>

using namespace mneme::replay;

namespace {

/// Where a recorded address leads now, by a word that holds it.
uint64_t translated(const AddressMap& map, uint64_t word) {
  const size_t count = map.translate(std::as_writable_bytes(std::span(&word, 1)), 0x600000);
  CHECK(count <= 1);
  return word;
}

} // namespace

TEST_CASE("addresses lead to where things moved") {
  const AddressMap map({{0x2000, 0x100, 0x9000}, {0x1000, 0x10, 0x8000}, {0x5000, 0, 1}});
  CHECK(translated(map, 0x1000) == 0x8000);
  CHECK(translated(map, 0x100f) == 0x800f);
  CHECK(translated(map, 0x1010) == 0x1010);
  CHECK(translated(map, 0x20ff) == 0x90ff);
  CHECK(translated(map, 0x9000) == 0x9000);
  CHECK(translated(map, 0x5000) == 0x5000);
  CHECK(AddressMap().isEmpty());
  CHECK(translated(AddressMap(), 0x2000) == 0x2000);
}

TEST_CASE("words are rewritten in place") {
  const AddressMap map({{0x2000, 0x100, 0x9000}});
  const std::vector<uint64_t> recorded = {0x2008, 3, 0x20f0, 0x2100};
  std::vector<uint64_t> words = recorded;
  CHECK(map.translate(std::as_writable_bytes(std::span(words)), 0x600004) == 0);
  CHECK(words == recorded);
  CHECK(map.translate(std::as_writable_bytes(std::span(words)), 0x600000) == 2);
  CHECK(words == std::vector<uint64_t>{0x9008, 3, 0x90f0, 0x2100});
}

TEST_CASE("a range that overlaps the next ends where that begins") {
  const AddressMap map({{0x1000, 0x101, 0x8000}, {0x1100, 0x10, 0x4000}});
  CHECK(translated(map, 0x10ff) == 0x80ff);
  CHECK(translated(map, 0x1100) == 0x4000);
}
