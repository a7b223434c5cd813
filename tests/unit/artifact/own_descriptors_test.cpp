// What an application does with descriptors and signals does not reach ours, nor ours it.
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <thread>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/artifact/directory.h"
#include "runtime/artifact/snapshot.h"
#include "runtime/artifact/writer.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "runtime/base/log.h"
#include "runtime/base/own_descriptors.h"
#include "runtime/base/standard_error.h"
#include "runtime/base/unique_fd.h"
#include "runtime/base/write_signals.h"
#include "tests/unit/artifact/fixtures.h"

namespace mneme::artifact::test {
namespace {

/// Runs `work` in a process of its own; true if that says so.
bool inChild(const std::function<bool()>& work) {
  const pid_t child = fork();
  if (child == 0)
    _exit(work() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int openFile(const std::filesystem::path& path) {
  return open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

/// As some containers do: descriptors stay shared from here on.
bool refuseOwnTables() {
  const std::array<sock_filter, 6> rules{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{rules.size(), const_cast<sock_filter*>(rules.data())};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool isOpen(int descriptor) { return fcntl(descriptor, F_GETFD) >= 0; }

} // namespace

TEST_CASE("what is opened apart is in no table of the application") {
  CHECK(inChild([] {
    const int before = dup(0);
    int inside = -1;
    bool sawStandard = false, sawOther = true;
    runApart([&] {
      inside = open("/dev/zero", O_RDONLY);
      sawStandard = isOpen(0) && isOpen(1) && isOpen(2);
      sawOther = inside != 3;
    });
    const int after = dup(0);
    return inside == 3 && sawStandard && !sawOther && after == before + 1;
  }));
}

TEST_CASE("what is thrown apart arrives") {
  CHECK_THROWS_WITH_AS(runApart([] { throw Error(ErrorCode::IoFailed, "apart"); }), "apart", Error);
  CHECK(apart([] { return apart([] { return 7; }); }) == 7);
}

TEST_CASE("a descriptor that is another file's by now is neither used nor closed") {
  const TemporaryDirectory directory;
  UniqueFd ours(openFile(directory.path() / "ours"));
  const int number = ours.get();
  REQUIRE(number >= 0);
  close(number);
  CHECK(ours.get() == -1);
  REQUIRE(openFile(directory.path() / "theirs") == number);
  CHECK(ours.get() == -1);
  CHECK_THROWS_AS(writeAll(ours.get(), noise(10, 1), "ours"), Error);
  ours = UniqueFd();
  CHECK(isOpen(number));
  close(number);
  CHECK(std::filesystem::file_size(directory.path() / "theirs") == 0);
}

TEST_CASE("where tables cannot be had, numbers are high and files of others stay whole") {
  CHECK(inChild([] {
    const TemporaryDirectory directory;
    if (!refuseOwnTables() || takeOwnDescriptors())
      return false;
    const UniqueFd high(openFile(directory.path() / "high"));
    WriterOptions options;
    options.directory = directory.path() / "recording";
    RecordingWriter writer(options);
    writer.addKernel(kernelRecord(1), {noise(500, 1)});
    std::atomic<bool> isOver{false};
    std::thread application([&] {
      while (!isOver) {
        for (int number = 3; number < 5000; ++number)
          close(number);
        for (int file = 0; file < 20; ++file)
          openFile(directory.path() / ("theirs-" + std::to_string(file)));
      }
    });
    for (uint64_t id = 0; id < 10; ++id)
      writer.submit(1, instanceOf(id, noise(300 * kChunkBytes, id), noise(10, id), &writer));
    writer.finish();
    isOver = true;
    application.join();
    bool isGood = high.get() == -1;
    for (int file = 0; file < 20; ++file)
      isGood = isGood && std::filesystem::file_size(directory.path() /
                                                    ("theirs-" + std::to_string(file))) == 0;
    if (std::filesystem::exists(options.directory / "1.json"))
      for (const auto& [hash, instance] :
           KernelRecord::load(options.directory / "1.json").instances) {
        Snapshot::open(options.directory / instance.prologue).verifyAll();
        Snapshot::open(options.directory / instance.epilogue).verifyAll();
      }
    return isGood && writer.statistics().instancesWritten + writer.statistics().instancesLost == 10;
  }));
}

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
        writeAll(descriptor, noise(100, 1), "it");
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

} // namespace mneme::artifact::test
