#include <doctest/doctest.h>

#include "runtime/recorder/summary.h"

namespace mneme::record::test {

TEST_CASE("a process without launches is not talked about") { CHECK(summaryLines({}).empty()); }

TEST_CASE("numbers, losses and reasons are said once each") {
  SummaryFacts facts;
  facts.directory = "/data";
  facts.kernels = 2;
  facts.launches = 100;
  facts.writer.instancesWritten = 3;
  facts.writer.rawBytes = 3ull << 30;
  facts.writer.uniqueBytes = 1536;
  facts.writer.storedBytes = 12;
  facts.writer.instancesLost = 1;
  facts.writer.losses = {"instance 5 was lost: disk full", "instance 6 was lost: disk full",
                         "no room (2 times)"};
  facts.notes = {{"no room", 2}};
  const auto lines = summaryLines(facts);
  REQUIRE(lines.size() == 5);
  CHECK(lines[0] == "recorded 3 instances of 2 kernels (100 launches) into '/data'");
  CHECK(lines[1].find("3.0 GiB described, 1.5 KiB unique, 12 bytes stored") != std::string::npos);
  CHECK(lines[2] == "lost 1 instance");
  CHECK(lines[3] == "instance 5 and 1 more were lost: disk full");
  CHECK(lines[4] == "no room (2 times)");
}

TEST_CASE("a filter that matches nothing is answered with what was launched") {
  SummaryFacts facts;
  facts.launches = 3;
  facts.unwanted = {"add(int)", "sweep.cpp:12"};
  const auto lines = summaryLines(facts);
  REQUIRE(lines.size() == 2);
  CHECK(lines[1] == "--kernels matches none of the kernels launched: 'add(int)', 'sweep.cpp:12'");
  for (int kernel = 0; kernel < 100; ++kernel)
    facts.unwanted.insert("kernel" + std::to_string(kernel));
  CHECK(summaryLines(facts)[1].ends_with("'kernel14' and 94 more"));
}

TEST_CASE("what many kernels share is said once, and names that fill a screen lose their middle") {
  SummaryFacts facts;
  facts.launches = 1;
  const std::string name = "void launch<" + std::string(500, 'x') + "::'lambda'(int)>(int)";
  facts.notes["kernel '" + name + "': no room"] = 3;
  for (const char* other : {"w(int)", "x(int)", "y(int)"})
    facts.notes["kernel '" + std::string(other) + "': no room"] = 1;
  CHECK(summaryLines(facts).size() == 5); // a few are named one by one
  facts.notes["kernel 'z(int)': no room"] = 2;
  facts.notes["kernel 'z(int)': captured"] = 1;
  const auto lines = summaryLines(facts);
  REQUIRE(lines.size() == 3);
  CHECK(lines[1].starts_with("kernel 'void launch<xxx"));
  CHECK(lines[1].ends_with("::'lambda'(int)>(int)' and 4 more: no room (8 times)"));
  CHECK(lines[1].size() < 200);
  CHECK(lines[2] == "kernel 'z(int)': captured");
}

TEST_CASE("an endless list of reasons is cut") {
  SummaryFacts facts;
  facts.launches = 1;
  for (int reason = 0; reason < 1000; ++reason)
    facts.notes["reason " + std::to_string(reason)] = 1;
  CHECK(summaryLines(facts).size() < 30);
}

} // namespace mneme::record::test
