#include "runtime/core/base/hash.h"

#include <doctest/doctest.h>

#include "runtime/core/base/packing.h"

using namespace mneme;

// Recordings and caches hold these numbers, so they are the same for ever.
TEST_CASE("hashes are those of XXH3 without a seed") {
  CHECK(hash64(std::string()) == 0x2d06800538d394c2);
  CHECK(hash64(std::string("mneme")) == hash64(bytesOf(std::string("mneme"))));
  CHECK(hash128({}) == Hash128{0x6001c324468d497f, 0x99aa06d3014798d8});
}

TEST_CASE("a combined hash depends on the order") {
  CHECK(combineHashes(1, 2) != combineHashes(2, 1));
  CHECK(combineHashes(1, 2) == combineHashes(1, 2));
}

TEST_CASE("hexadecimal digits are lower-case and as many as there can be") {
  CHECK(toHex(uint64_t{0xAB}) == "00000000000000ab");
  CHECK(toHex(Hash128{1, 2}) == "00000000000000020000000000000001");
}
