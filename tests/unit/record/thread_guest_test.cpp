// Programs whose threads launch, copy, fork, are cancelled and jump while they are recorded: they
// do what they do alone, in about the same time, and the summary is true.
#include "tests/unit/record/guest_run.h"

namespace mneme::record::test {
namespace {

/// Recorded, the program does what it does alone, which is checked by `check`.
template <typename Check>
void checkSame(const std::string& mode, const Check& check, const std::string& environment = "") {
  CAPTURE(mode);
  const Run alone = run(mode, false, "", MNEME_TEST_THREAD_GUEST);
  const Run recorded = run(mode, true, environment, MNEME_TEST_THREAD_GUEST);
  CAPTURE(recorded.said);
  CHECK(recorded.status == alone.status);
  CHECK(recorded.output == alone.output);
  check(recorded);
}

/// What the summary counts.
uint64_t launchesSaid(const Run& run) {
  const size_t end = run.said.rfind(" launches)");
  const size_t begin = run.said.rfind('(', end);
  return end == std::string::npos ? 0 : std::stoull(run.said.substr(begin + 1));
}

/// C++ ends the program if it happens between two calls, where nothing can be unwound. Nearly all
/// of the time is spent in a call, so that this is rare, recorded or not: it is tried again then.
void cancelAsynchronously(int attempts) {
  const Run recorded = run("cancel-asynchronously 5", true, "", MNEME_TEST_THREAD_GUEST);
  if (recorded.status != 0 && attempts > 1)
    return cancelAsynchronously(attempts - 1);
  CAPTURE(recorded.said);
  CHECK(recorded.status == 0);
  CHECK(recorded.output == "cancelled 5\n");
  CHECK(wholeInstances(recorded) >= 2);
}

bool says(const Run& run, const std::string& text) {
  return run.said.find(text) != std::string::npos;
}

constexpr double kSoon = 120; // on a machine that does much else; unbounded before

} // namespace

TEST_CASE("launches are recorded while other threads launch without a pause") {
  for (const char* mode : {"beside 2", "beside 64"})
    checkSame(
        mode,
        [](const Run& recorded) {
          CHECK(recorded.seconds < kSoon);
          CHECK(wholeInstances(recorded) == 5);
        },
        "MNEME_MAX_RECORDINGS=50");
}

TEST_CASE("nothing is copied while a launch is recorded") {
  checkSame(
      "copies 4",
      [](const Run& recorded) {
        CHECK(recorded.seconds < kSoon);
        CHECK(says(recorded, "changed in 0 kernels"));
        CHECK(wholeInstances(recorded) == 5);
      },
      "MNEME_MAX_RECORDINGS=50");
}

TEST_CASE("a copy that waits for the launch to be recorded costs that recording") {
  checkSame("copy-behind", [](const Run& recorded) {
    CHECK(recorded.seconds < 2 * kSoon);
    CHECK(says(recorded, "calls of the runtime in other threads did not end"));
    CHECK(wholeInstances(recorded) == 2);
  });
}

TEST_CASE("a program forks while its threads launch without a pause") {
  checkSame("fork 8", [](const Run& recorded) {
    CHECK(recorded.seconds < kSoon);
    CHECK(wholeInstances(recorded) == 2);
  });
}

TEST_CASE("a program that ends does not wait for threads that launch") {
  checkSame("detached 16", [](const Run& recorded) {
    CHECK(recorded.seconds < kSoon);
    CHECK(wholeInstances(recorded) == 2);
    CHECK_FALSE(says(recorded, "not built with mneme"));
  });
}

TEST_CASE("the summary counts every launch of every thread") {
  const Run recorded = run("beside 8", true, "", MNEME_TEST_THREAD_GUEST);
  const size_t begin = recorded.said.find("launched ");
  REQUIRE(begin != std::string::npos);
  CHECK(launchesSaid(recorded) == std::stoull(recorded.said.substr(begin + 9)));
}

TEST_CASE("a thread is cancelled in a launch as it is alone") {
  for (const char* mode : {"cancel 5", "thread-ends"})
    checkSame(mode, [](const Run& recorded) { CHECK(wholeInstances(recorded) >= 2); });
}

TEST_CASE("a thread is cancelled asynchronously in a launch as it is alone") {
  cancelAsynchronously(3);
}

TEST_CASE("a jump out of a launch costs that recording only") {
  checkSame("jump 4", [](const Run& recorded) {
    CHECK(recorded.seconds < kSoon);
    CHECK(says(recorded, "left the launch by a jump"));
    CHECK(wholeInstances(recorded) == 2);
  });
}

TEST_CASE("a thread that jumps out of a recording and comes no more stalls the others shortly") {
  checkSame("jump-aside", [](const Run& recorded) {
    CHECK(recorded.seconds < kSoon);
    CHECK(says(recorded, "did not end"));
    CHECK(launchesSaid(recorded) == 4);
  });
}

TEST_CASE("a recording that goes on when the program ends is lost, and said to be") {
  checkSame("beside-long", [](const Run& recorded) {
    CHECK(recorded.seconds < kSoon);
    CHECK(says(recorded, "ended while a launch was being recorded"));
    CHECK(wholeInstances(recorded) == 2);
  });
}

TEST_CASE("a kernel that needs another thread does not wait for ever for one kept outside") {
  for (const char* mode : {"needs-another", "needs-a-copy"})
    checkSame(mode, [](const Run& recorded) {
      CHECK(recorded.seconds < kSoon);
      CHECK(says(recorded, "other threads of the program went on"));
      CHECK(wholeInstances(recorded) == 2);
    });
}

TEST_CASE("an exec that fails does not end the recording") {
  checkSame("exec-fails", [](const Run& recorded) {
    CHECK(wholeInstances(recorded) == 3);
    CHECK(launchesSaid(recorded) == 3);
    CHECK(artifact::listDirectory(recorded.directory / "data").notes.empty());
  });
}

TEST_CASE("settings are those the program was started with, and so is the directory") {
  for (const char* mode : {"clearenv", "chdir"})
    checkSame(mode, [](const Run& recorded) { CHECK(wholeInstances(recorded) == 1); });
}

TEST_CASE("programs that are started do not end the recording") {
  if (!MNEME_TEST_IS_SANITIZED) // they cannot load a recorder that needs the sanitizer's runtime
    checkSame("spawn", [](const Run& recorded) { CHECK(wholeInstances(recorded) == 2); });
}

} // namespace mneme::record::test
