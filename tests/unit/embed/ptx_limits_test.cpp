#include "runtime/core/embed/ptx_limits.h"

#include <doctest/doctest.h>

#include <cstring>

#include "runtime/core/base/error.h"

namespace mneme::embed::test {
namespace {

std::string limited(const std::string& text, const char* kernel,
                    const PtxLimits& limits = {.registers = 24}) {
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  const std::vector<std::byte> changed = withLimits(bytes, kernel, limits);
  return {reinterpret_cast<const char*>(changed.data()), changed.size()};
}

} // namespace

TEST_CASE("PTX gets a limit of registers where directives of the kernel stand") {
  CHECK(
      limited(".visible .entry k2(.param .u64 a)\n{ ret; }\n.entry k(\n.param .u32 b\n)\n{ ret; }",
              "k") == ".visible .entry k2(.param .u64 a)\n{ ret; }\n.entry k(\n.param .u32 "
                      "b\n)\n.maxnreg 24\n{ ret; }");
  CHECK(limited(".entry k()\n.maxntid 128, 1, 1\n.maxnreg 255\n{ ret; }", "k") ==
        ".entry k()\n.maxnreg 24\n.maxntid 128, 1, 1\n\n{ ret; }");
  CHECK(limited(".entry k\n.reqntid 128 { ret; }", "k") ==
        ".entry k\n\n.maxnreg 24\n.reqntid 128 { ret; }");
  CHECK(limited(".entry k().pragma \"nounroll;\"; .maxnreg 0x40 { ret; }", "k") ==
        ".entry k()\n.maxnreg 24\n.pragma \"nounroll;\";  { ret; }");
  CHECK(limited(".entry k { ret; }", "k") == ".entry k \n.maxnreg 24{ ret; }");
  // A declaration stands before the kernel.
  CHECK(limited(".entry k();\n.entry k()\n{ ret; }", "k") ==
        ".entry k();\n.entry k()\n.maxnreg 24\n{ ret; }");
}

TEST_CASE("PTX gets other launch bounds in place of its own") {
  const PtxLimits bounds{.maxThreads = 256, .minBlocks = 4};
  const std::string other = ".entry k2()\n.maxntid 32\n{ ret; }\n";
  CHECK(limited(other + ".entry k()\n.maxntid 128, 1, 1\n.minnctapersm 2\n.maxnreg 99\n{ ret; }",
                "k", bounds) ==
        other + ".entry k()\n.maxntid 256\n.minnctapersm 4\n\n\n.maxnreg 99\n{ ret; }");
  CHECK(limited(".entry k()\n.maxntid 64,2 .maxclusterrank 8\n.minnctapersm 2\n{ ret; }", "k",
                {.maxThreads = 256}) == ".entry k()\n.maxntid 256\n .maxclusterrank 8\n\n{ ret; }");
  // An exact number stays: the assembler takes one of the two.
  CHECK(limited(".entry k()\n.reqntid 128\n{ ret; }", "k", bounds) ==
        ".entry k()\n.minnctapersm 4\n.reqntid 128\n{ ret; }");
  CHECK(limited(".entry k { ret; }", "k", {.registers = 24, .maxThreads = 8}) ==
        ".entry k \n.maxnreg 24\n.maxntid 8{ ret; }");
}

TEST_CASE("comments hold no directives") {
  CHECK(limited(
            "// .entry k() { \n/* .entry k() {} */.entry k() // {.maxnreg 7;\n.maxnreg 9\n{ ret; }",
            "k") == "// .entry k() { \n/* .entry k() {} */.entry k()\n.maxnreg 24 // {.maxnreg "
                    "7;\n\n{ ret; }");
  CHECK(limited(".file 1 \".entry k() {\"\n.entry k()\n.maxnreg_of_ours 9\n{ ret; }", "k") ==
        ".file 1 \".entry k() {\"\n.entry k()\n.maxnreg 24\n.maxnreg_of_ours 9\n{ ret; }");
  CHECK_THROWS_AS(limited("/* .entry k() { ret; }", "k"), Error);
}

TEST_CASE("a program's bounds for its driver are replaced with those of its code") {
  const std::string line = "// options of the driver's compiler: ";
  CHECK(limited(line + "0=24 31=1 32=64 33=1\n.entry k()\n{ ret; }", "k",
                {.maxThreads = 256, .minBlocks = 4}) ==
        line + "0=24 31=4 32=256 33=1\n.entry k()\n.maxntid 256\n.minnctapersm 4\n{ ret; }");
}

TEST_CASE("PTX without the kernel is refused") {
  CHECK_THROWS_AS(limited(".entry other()\n{ ret; }", "k"), Error);
  CHECK_THROWS_AS(limited(".entry k(", "k"), Error);
  CHECK_THROWS_AS(limited(".entry", "k"), Error);
  CHECK_THROWS_AS(limited("", "k"), Error);
}

} // namespace mneme::embed::test
