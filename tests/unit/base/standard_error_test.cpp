#include "runtime/core/base/standard_error.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include "runtime/core/base/file.h"
#include "runtime/core/base/log.h"
#include "runtime/core/base/own_descriptors.h"
#include "tests/unit/base/guest_parts.h"
#include "tests/unit/base/temporary_directory.h"

namespace mneme::test {

TEST_CASE("notices go to the stderr of the start or nowhere") {
  const TemporaryDirectory directory;
  const auto first = directory.path() / "first", second = directory.path() / "second";
  CHECK(inChild([&] {
    dup2(openFile(first), STDERR_FILENO);
    rememberStandardError();
    notice("one");
    dup2(openFile(second), STDERR_FILENO);
    notice("two");
    runApart([] { notice("three"); });
    if (!inChild([] { return standardError() == -1; })) // nothing is held open there
      return false;
    for (int number = 3; number < 40000; ++number)
      close(number);
    notice("four");
    runApart([] { notice("five"); });
    return true;
  }));
  CHECK(readTextFile(first) == "mneme: one\nmneme: two\nmneme: three\n");
  CHECK(readTextFile(second).empty());
}

TEST_CASE("notices are in the directory of logs, too") {
  const TemporaryDirectory directory;
  const auto first = directory.path() / "first", logs = directory.path() / "logs";
  std::filesystem::create_directory(logs);
  CHECK(inChild([&] {
    setenv("MNEME_LOG_DIR", logs.c_str(), 1);
    setenv("SLURM_PROCID", "7", 1);
    dup2(openFile(first), STDERR_FILENO);
    rememberStandardError();
    notice("one");
    notice("two");
    return true;
  }));
  CHECK(readTextFile(first) == "mneme: one\nmneme: two\n");
  const std::filesystem::path log = *std::filesystem::directory_iterator(logs);
  CHECK(log.filename().string().ends_with("-7.log"));
  CHECK(readTextFile(log) == "mneme: one\nmneme: two\n");
}

TEST_CASE("the second stderr takes no number that a program may have") {
  CHECK(inChild([] {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 64;
    setrlimit(RLIMIT_NOFILE, &limit);
    rememberStandardError();
    close(STDERR_FILENO);
    const int second = standardError();
    rlimit after{};
    getrlimit(RLIMIT_NOFILE, &after);
    return second >= 64 && after.rlim_cur == 64 && after.rlim_max == limit.rlim_max;
  }));
}

} // namespace mneme::test
