#include <doctest/doctest.h>

#include <chrono>
#include <csignal>

#include "kernels.h"
#include "runtime/compiler/assembler/subprocess.h"

using namespace mneme;
using namespace mneme::test;
using compile::runProgram;

TEST_CASE("a program reads its input, writes its output and is heard") {
  const compile::ProgramResult result =
      runProgram("/bin/sh", {"-c", "cat <&3 >&4; echo to stdout; echo to stderr >&2; exit 7"},
                 std::string(100000, 'x'), 60);
  CHECK(result.exitCode == 7);
  CHECK_FALSE(result.isTimedOut);
  CHECK(result.output == std::string(100000, 'x'));
  CHECK(contains(result.messages, "to stdout"));
  CHECK(contains(result.messages, "to stderr"));
}

TEST_CASE("a program that does not end is ended") {
  const compile::ProgramResult result = runProgram("/bin/sh", {"-c", "exec sleep 60"}, "", 1);
  CHECK(result.isTimedOut);
  CHECK(result.exitCode == 128 + SIGKILL);
}

TEST_CASE("a program is not watched by what watches this process") {
  const ScopedEnvironment preload("LD_PRELOAD", "/nowhere/librecord.so");
  const compile::ProgramResult result =
      runProgram("/bin/sh", {"-c", "echo \"[$LD_PRELOAD]\""}, "", 60);
  CHECK(result.messages == "[]\n");
}

TEST_CASE("a program has ended even if something it started goes on") {
  const auto start = std::chrono::steady_clock::now();
  const compile::ProgramResult result =
      runProgram("/bin/sh", {"-c", "sleep 20 & echo done; exit 3"}, "", 60);
  CHECK(result.exitCode == 3);
  CHECK(result.messages == "done\n");
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(15));
}

TEST_CASE("a program that cannot be started is named") {
  const Failure failure = failureOf([] { runProgram("/nowhere/program", {}, "", 60); });
  CHECK(failure.code == ErrorCode::BackendUnavailable);
  CHECK(contains(failure.message, "/nowhere/program"));
}
