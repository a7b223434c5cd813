#include "runtime/core/base/unique_fd.h"

#include <doctest/doctest.h>

#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"
#include "runtime/core/base/packing.h"
#include "tests/unit/base/guest_parts.h"
#include "tests/unit/base/temporary_directory.h"

namespace mneme::test {

TEST_CASE("a descriptor that is another file's by now is neither used nor closed") {
  const TemporaryDirectory directory;
  UniqueFd ours(openFile(directory.path() / "ours"));
  const int number = ours.get();
  REQUIRE(number >= 0);
  close(number);
  CHECK(ours.get() == -1);
  REQUIRE(openFile(directory.path() / "theirs") == number);
  CHECK(ours.get() == -1);
  CHECK_THROWS_AS(writeAll(ours.get(), bytesOf(std::string("text")), "ours"), Error);
  ours = UniqueFd();
  CHECK(isOpen(number));
  close(number);
  CHECK(std::filesystem::file_size(directory.path() / "theirs") == 0);
}

} // namespace mneme::test
