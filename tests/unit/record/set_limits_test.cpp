#include "runtime/recorder/set_limits.h"

#include <doctest/doctest.h>

using namespace mneme::record;

TEST_CASE("limits are known for the context in which the program set them") {
  int one = 0, other = 0;
  SetLimits limits;
  limits.note(0, 0);
  limits.note(0, 2);
  limits.note({0, &one}, 1);
  limits.note({0, &other}, 40); // of no vendor
  CHECK(limits.of(0) == 5);
  CHECK(limits.of(1) == 0);
  CHECK(limits.of({0, &one}) == 2);
  CHECK(limits.of({0, &other}) == 0);
  limits.forgetContext(&one);
  CHECK(limits.of({0, &one}) == 0);
  CHECK(limits.of(0) == 5);
  limits.note({0, &other}, 1);
  limits.forgetDevice(0);
  CHECK(limits.of(0) == 0);
  CHECK(limits.of({0, &other}) == 2);
}
