#include "runtime/core/base/write_signals.h"

#include <csignal>

#include <doctest/doctest.h>
#include <sys/resource.h>

#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"
#include "runtime/core/base/packing.h"
#include "tests/unit/base/guest_parts.h"
#include "tests/unit/base/temporary_directory.h"

namespace mneme::test {

TEST_CASE("a write that fails raises no signal, and keeps those that wait") {
  CHECK(inChild([] {
    static volatile sig_atomic_t seen = 0;
    std::signal(SIGPIPE, [](int) { seen = seen + 1; });
    std::signal(SIGXFSZ, [](int) { seen = seen + 100; });
    const TemporaryDirectory directory;
    int ends[2];
    if (pipe(ends) != 0)
      return false;
    close(ends[0]);
    const auto fails = [](int descriptor) {
      try {
        writeAll(descriptor, bytesOf(std::string(100, 'x')), "it");
        return false;
      } catch (const Error&) {
        return true;
      }
    };
    bool isGood = fails(ends[1]) && seen == 0;
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 10;
    setrlimit(RLIMIT_FSIZE, &limit);
    isGood = isGood && fails(openFile(directory.path() / "file")) && seen == 0;
    {
      const BlockedWriteSignals application;
      raise(SIGPIPE);
      isGood = isGood && fails(ends[1]) && seen == 0;
    }
    return isGood && seen == 1;
  }));
}

} // namespace mneme::test
