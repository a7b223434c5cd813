#include "runtime/core/loaded/next_symbol.h"

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <string_view>

namespace mneme::loaded::test {

TEST_CASE("a second function is that of the library that has the first") {
  const void* const first = nextSymbol("gnu_get_libc_version", {});
  const void* const second = besideNext("gnu_get_libc_version", "gnu_get_libc_release", {});
  REQUIRE(first);
  REQUIRE(second);
  Dl_info one{}, other{};
  REQUIRE(dladdr(first, &one) != 0);
  REQUIRE(dladdr(second, &other) != 0);
  CHECK(std::string_view(one.dli_fname) == other.dli_fname);
  CHECK(!besideNext("gnu_get_libc_version", "there_is_no_such_function", {}));
  CHECK(!besideNext("there_is_no_such_function", "gnu_get_libc_release", {}));
}

} // namespace mneme::loaded::test
