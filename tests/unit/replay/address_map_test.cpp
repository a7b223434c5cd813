#include "runtime/replay/address_map.h"

#include <doctest/doctest.h>

using namespace mneme::replay;

TEST_CASE("addresses lead to where things moved, and back") {
  const AddressMap map({{0x2000, 0x100, 0x9000}, {0x1000, 0x10, 0x8000}, {0x5000, 0, 1}});
  CHECK(map.toHere(0x1000) == 0x8000);
  CHECK(map.toHere(0x100f) == 0x800f);
  CHECK(map.toHere(0x1010) == 0x1010);
  CHECK(map.toHere(0x20ff) == 0x90ff);
  CHECK(map.toHere(0x9000) == 0x9000);
  CHECK(map.toHere(0x5000) == 0x5000);
  CHECK(map.toRecorded(0x90ff) == 0x20ff);
  CHECK(map.toRecorded(0x2000) == 0x2000);
  CHECK(AddressMap().isEmpty());
  CHECK(AddressMap().toHere(0x2000) == 0x2000);
}

TEST_CASE("words are rewritten in place, and as they were by the way back") {
  const AddressMap map({{0x2000, 0x100, 0x9000}});
  const std::vector<uint64_t> recorded = {0x2008, 3, 0x20f0, 0x2100};
  std::vector<uint64_t> words = recorded;
  CHECK(map.translate(std::as_writable_bytes(std::span(words)), 0x600000) == 2);
  CHECK(words == std::vector<uint64_t>{0x9008, 3, 0x90f0, 0x2100});
  CHECK(map.translateBack(std::as_writable_bytes(std::span(words)), 0x600000) == 2);
  CHECK(words == recorded);
  CHECK(map.translate(std::as_writable_bytes(std::span(words)), 0x600004) == 0);
}

TEST_CASE("a range that overlaps the next ends where that begins") {
  const AddressMap map({{0x1000, 0x101, 0x8000}, {0x1100, 0x10, 0x4000}});
  CHECK(map.toHere(0x10ff) == 0x80ff);
  CHECK(map.toHere(0x1100) == 0x4000);
}
