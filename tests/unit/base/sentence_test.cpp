#include "runtime/core/base/sentence.h"

#include <doctest/doctest.h>

using mneme::sentence;

TEST_CASE("a sentence is made of its parts") {
  CHECK(sentence("a launch ", std::string("was lost: "), std::string_view("no disk")) ==
        "a launch was lost: no disk");
}

TEST_CASE("a sentence there is no memory for is a short one") {
  const std::string_view endless("x", std::string().max_size());
  CHECK(sentence("it was lost: ", endless) == "out of memory");
}
