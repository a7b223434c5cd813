#include "runtime/core/base/file.h"

#include <iterator>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "runtime/core/base/error.h"
#include "tests/unit/base/temporary_directory.h"

namespace mneme::test {
namespace {

template <typename Action> ErrorCode codeOf(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::Ok;
}

size_t entriesOf(const std::filesystem::path& directory) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(directory), {}));
}

} // namespace

TEST_CASE("a file is read as it was written, and its old content is replaced whole") {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "file";
  writeFileAtomically(path, "a longer first text");
  writeFileAtomically(path, "second");
  CHECK(readTextFile(path) == "second");
  CHECK(readFile(path).size() == 6);
  CHECK(entriesOf(directory.path()) == 1);
}

TEST_CASE("what is missing, no file or too large is refused without waiting") {
  const TemporaryDirectory directory;
  CHECK(codeOf([&] { readFile(directory.path() / "none"); }) == ErrorCode::NotFound);
  CHECK(codeOf([&] { readFile(directory.path()); }) == ErrorCode::IoFailed);
  const auto pipe = directory.path() / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(codeOf([&] { readFile(pipe); }) == ErrorCode::IoFailed);
  writeFileAtomically(directory.path() / "file", "12345");
  CHECK(readTextFile(directory.path() / "file", 5) == "12345");
  CHECK(codeOf([&] { readTextFile(directory.path() / "file", 4); }) == ErrorCode::OutOfRange);
}

TEST_CASE("a write that fails leaves nothing behind") {
  const TemporaryDirectory directory;
  const auto taken = directory.path() / "taken";
  std::filesystem::create_directory(taken);
  CHECK(codeOf([&] { writeFileAtomically(taken, "text"); }) == ErrorCode::IoFailed);
  CHECK(codeOf([&] { writeFileAtomically(directory.path() / "none" / "file", "text"); }) ==
        ErrorCode::IoFailed);
  CHECK(entriesOf(directory.path()) == 1);
}

TEST_CASE("temporary names are beside the file and never the same") {
  const auto first = temporaryName("/some/where/file"), second = temporaryName("/some/where/file");
  CHECK(first.parent_path() == "/some/where");
  CHECK(first.filename().string().rfind("file.tmp-", 0) == 0);
  CHECK(first != second);
}

} // namespace mneme::test
