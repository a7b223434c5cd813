#include <random>
#include <unordered_map>

#include <doctest/doctest.h>

#include "runtime/core/artifact/hash_map.h"

namespace mneme::artifact::test {

TEST_CASE("a hash map holds what a standard one does, through growth and removal") {
  std::mt19937_64 random(1);
  HashMap<uint64_t> map;
  std::unordered_map<Hash128, uint64_t> expected;
  for (int step = 0; step < 200000; ++step) {
    const Hash128 key{random() % 3000 * 64 % 9973, random() % 2}; // many collisions
    if (random() % 3 != 0) {
      CHECK(map.tryEmplace(key, step + 1).second == expected.try_emplace(key, step + 1).second);
    } else {
      map.erase(key);
      expected.erase(key);
    }
  }
  expected.erase({1, 0}); // shares a place with the zero key
  expected.erase({0, 0});
  for (const auto& [key, value] : expected) {
    REQUIRE(map.find(key) != nullptr);
    CHECK(*map.find(key) == value);
  }
  size_t count = 0;
  map.forEach([&](const Hash128& key, uint64_t) { count += key == Hash128{1, 0} ? 0 : 1; });
  CHECK(count == expected.size());
}

} // namespace mneme::artifact::test
