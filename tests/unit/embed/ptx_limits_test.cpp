#include "runtime/core/embed/ptx_limits.h"

#include <doctest/doctest.h>

#include <cstring>

#include "runtime/core/base/error.h"

namespace mneme::embed::test {
namespace {

std::string limited(const std::string& text, const char* kernel) {
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  const std::vector<std::byte> changed = withRegisterLimit(bytes, kernel, 24);
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
  CHECK(limited(".entry k { ret; }", "k") == ".entry k \n.maxnreg 24{ ret; }");
  // A declaration stands before the kernel.
  CHECK(limited(".entry k();\n.entry k()\n{ ret; }", "k") ==
        ".entry k();\n.entry k()\n.maxnreg 24\n{ ret; }");
}

TEST_CASE("PTX without the kernel is refused") {
  CHECK_THROWS_AS(limited(".entry other()\n{ ret; }", "k"), Error);
  CHECK_THROWS_AS(limited(".entry k(", "k"), Error);
  CHECK_THROWS_AS(limited(".entry", "k"), Error);
  CHECK_THROWS_AS(limited("", "k"), Error);
}

} // namespace mneme::embed::test
