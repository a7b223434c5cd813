#include <doctest/doctest.h>

#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "runtime/core/base/error.h"
#include "runtime/nvcc/command_line.h"
#include "tests/unit/base/temporary_directory.h"

using namespace mneme::nvcc;

using Words = std::vector<std::string>;

TEST_CASE("each option has its two names alone, and says what becomes of it") {
  std::set<std::string_view> names;
  for (const Option& option : options()) {
    if (!option.name.empty())
      CHECK(names.insert(option.name).second);
    CHECK(names.insert(option.brief).second);
    CHECK_FALSE(option.text.empty());
    // What clang cannot do is a sentence about clang.
    if (option.becomes == Becomes::Refused)
      CHECK(option.text.starts_with("clang "));
  }
}

TEST_CASE("a value is behind an equals sign, in the next word, or joined where nvcc allows it") {
  const auto items =
      parseCommandLine({"-arch=sm_90", "--gpu-architecture", "sm_80", "-O3", "-t8", "-lfoo", "-I",
                        "a,b", "-Xcompiler=-fPIC,-Wall", "-D'F=x,y'", "-lineinfo", "a.cu"});
  REQUIRE(items.size() == 10);
  CHECK(items[0].values == Words{"sm_90"});
  CHECK(items[1].values == Words{"sm_80"});
  CHECK(items[2].values == Words{"3"});
  CHECK(items[3].option->brief == "-t");
  CHECK(items[4].values == Words{"foo"});
  CHECK(items[5].values == Words{"a", "b"});
  CHECK(items[6].values == Words{"-fPIC", "-Wall"});
  CHECK(items[7].values == Words{"'F=x,y'"});
  CHECK(items[8].option->brief == "-lineinfo");
  CHECK(items[9].text == "a.cu");
}

TEST_CASE("what nvcc does not know is neither joined nor an input") {
  for (const char* word : {"-march=native", "-traditional", "-Wall", "--arch=sm_90", "-MFx.d"}) {
    const auto items = parseCommandLine({word});
    REQUIRE(items.size() == 1);
    CHECK(items[0].isUnknown);
  }
}

TEST_CASE("values that are missing, wrong or too many are named") {
  for (const auto& words : {Words{"-o"}, Words{"-rdc", "-c"}, Words{"-lineinfo=1"}})
    CHECK_THROWS_AS(parseCommandLine(words), mneme::Error);
}

TEST_CASE("response files stand in their place, and one that names itself is an error") {
  const mneme::test::TemporaryDirectory folder;
  const std::string inner = (folder.path() / "inner").string();
  const std::string outer = (folder.path() / "outer").string();
  std::ofstream(inner) << "-DTEXT=\"a b\" 'c d.cu'\n";
  std::ofstream(outer) << "-O2 @" << inner;
  const auto items = parseCommandLine({"-c", "--options-file", outer, "z.cu"});
  REQUIRE(items.size() == 5);
  CHECK(items[2].values == Words{"TEXT=a b"});
  CHECK(items[3].text == "c d.cu");
  std::ofstream(inner) << "@" << inner;
  CHECK_THROWS_AS(parseCommandLine({"@" + inner}), mneme::Error);
  CHECK_THROWS_AS(parseCommandLine({"@" + inner + ".none"}), mneme::Error);
}

TEST_CASE("words are split as a shell does, lists where no quote or backslash keeps the comma") {
  CHECK(splitWords(" a 'b c'\t\"d\\\"e\" f\\ g '' ") == Words{"a", "b c", "d\"e", "f g", ""});
  CHECK(splitList("-a,-b\\,c,\"d,e\"") == Words{"-a", "-b,c", "\"d,e\""});
}
