#include "runtime/core/artifact/directory_lock.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "runtime/core/artifact/directory.h"
#include "runtime/core/base/error.h"
#include "tests/unit/artifact/fixtures.h"

namespace mneme::artifact::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// As a program that has nothing to do with ours holds it.
struct Foreign {
  explicit Foreign(const std::filesystem::path& directory)
      : file(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    REQUIRE(flock(file.get(), LOCK_EX) == 0);
  }
  UniqueFd file;
};

} // namespace

TEST_CASE("a lock that somebody keeps is not waited for without bound, and then only tried") {
  const TemporaryDirectory directory;
  LockPatience patience{300ms};
  {
    const Foreign foreign(directory.path());
    const auto begin = Clock::now();
    const DirectoryLock lock(directory.path(), patience);
    CHECK(lock.isTaken());
    CHECK(Clock::now() - begin >= 300ms);
    CHECK(lock.holder().find("process " + std::to_string(getpid())) == 0);
    CHECK(patience.wasInVain);
    patience.limit = 1h; // the next one does not wait at all
    CHECK(DirectoryLock(directory.path(), patience).isTaken());
  }
  CHECK_FALSE(DirectoryLock(directory.path(), patience).isTaken());
  CHECK_FALSE(patience.wasInVain);
}

TEST_CASE("a lock is had as soon as its holder lets go, and let go of at the end") {
  const TemporaryDirectory directory;
  LockPatience patience;
  for (int round = 0; round < 3; ++round)
    CHECK_FALSE(DirectoryLock(directory.path(), patience).isTaken());
}

TEST_CASE("where there is no directory nothing is locked and nobody waits") {
  LockPatience patience;
  CHECK_FALSE(DirectoryLock("/no/such/directory", patience).isTaken());
}

TEST_CASE("records are not copied into a directory that somebody keeps locked") {
  const TemporaryDirectory directory;
  const Foreign foreign(directory.path());
  try {
    copyRecords({}, directory.path());
    FAIL("copied");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::IoFailed);
    CHECK(std::string(error.what()).find("locked") != std::string::npos);
  }
}

} // namespace mneme::artifact::test
