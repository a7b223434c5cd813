#include <doctest/doctest.h>

#include "runtime/core/base/grouped_notices.h"

using mneme::Grouped;

TEST_CASE("sentences that differ in names and numbers only are one line") {
  Grouped grouped;
  CHECK(grouped.add("kernel 'a' has sm_90, not sm_80: it's stale (hash 01ab)", "'a'"));
  CHECK_FALSE(grouped.add("kernel 'b c' has sm_90, not sm_75: it's stale (hash 99ff)", "'b c'"));
  CHECK_FALSE(grouped.add("kernel 'b c' has sm_90, not sm_75: it's stale (hash 99ff)", "'b c'"));
  CHECK(grouped.add("kernel 'a' is odd", "'a'"));
  const auto all = grouped.sentences();
  REQUIRE(all.size() == 2);
  CHECK(all[0] ==
        "kernel 'a' has sm_90, not sm_80: it's stale (hash 01ab) (and the like of 1 more: "
        "'b c')");
  CHECK(all[1] == "kernel 'a' is odd");
  CHECK(grouped.repeats().size() == 1);
}

TEST_CASE("any number of kinds takes bounded space, and none is lost from the count") {
  Grouped grouped;
  for (int i = 0; i < 1000; ++i)
    grouped.add(std::string(static_cast<size_t>(i + 1), 'x'), "'" + std::to_string(i) + "'");
  const auto all = grouped.sentences();
  CHECK(all.size() == 33);
  CHECK(all.back().find("967 more: ") != std::string::npos);
}
