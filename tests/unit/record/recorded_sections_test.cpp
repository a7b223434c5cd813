#include <doctest/doctest.h>

#include <regex>

#include "runtime/recorder/recorded_sections.h"

namespace mneme::record::test {
namespace {

KernelInfo kernelNamed(const char* name) {
  auto blob = std::make_shared<embed::KernelBlob>();
  blob->kernel = name;
  blob->demangled = std::string(name) + "(float*)";
  KernelInfo info;
  info.blob = std::move(blob);
  return info;
}

} // namespace

TEST_CASE("without sections the whole run is recorded, and nothing is said") {
  RecordedSections sections(SectionMode::Automatic);
  CHECK(sections.wants(kernelNamed("scale"), {}));
  CHECK(sections.summary().empty());
}

TEST_CASE("from the first section on, only sections are recorded") {
  RecordedSections sections(SectionMode::Automatic);
  CHECK(sections.wants(kernelNamed("scale"), {}));
  const int64_t outer = sections.open("");
  const int64_t inner = sections.open("shift");
  CHECK(outer > 0);
  CHECK(inner != outer);
  CHECK(sections.wants(kernelNamed("scale"), {}));
  sections.close(outer);
  CHECK_FALSE(sections.wants(kernelNamed("scale"), {}));
  CHECK(sections.wants(kernelNamed("shift"), {}));
  sections.close(inner);
  sections.close(inner);
  CHECK_FALSE(sections.wants(kernelNamed("shift"), {}));
  const auto said = sections.summary();
  REQUIRE(said.size() == 2);
  CHECK(said[0].find("they began 2 times and had 2 of 4 launches") != std::string::npos);
  CHECK(said[1].find("1 launch came before the first section") == 0);
}

TEST_CASE("a section's filter takes labels and paths, and says when it matches nothing") {
  RecordedSections sections(SectionMode::Only);
  CHECK_FALSE(sections.wants(kernelNamed("scale"), {"step", "advection"}));
  const int64_t first = sections.open("step/adv");
  CHECK(sections.wants(kernelNamed("scale"), {"step", "advection"}));
  CHECK_FALSE(sections.wants(kernelNamed("scale"), {"advection"}));
  CHECK_FALSE(sections.wants(kernelNamed("scale"), {}));
  sections.close(first);
  sections.open("nothing");
  CHECK_FALSE(sections.wants(kernelNamed("scale"), {}));
  const auto said = sections.summary();
  REQUIRE(said.size() == 2);
  CHECK(said[1] ==
        "the filter of a section, 'nothing', matches none of the kernels launched in it");
}

TEST_CASE("an invalid filter opens nothing") {
  RecordedSections sections(SectionMode::Only);
  CHECK_THROWS_AS(sections.open("("), std::regex_error);
  CHECK_THROWS_AS(sections.open("("), std::regex_error);
  CHECK_FALSE(sections.wants(kernelNamed("scale"), {}));
  CHECK(sections.summary().front().find("none began") != std::string::npos);
}

TEST_CASE("sections that are ignored limit nothing") {
  RecordedSections sections(SectionMode::Ignored);
  const int64_t section = sections.open("nothing");
  CHECK(sections.wants(kernelNamed("scale"), {}));
  sections.close(section);
  CHECK(sections.wants(kernelNamed("scale"), {}));
  CHECK(sections.summary().empty());
}

} // namespace mneme::record::test
