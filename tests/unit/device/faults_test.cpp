#include <doctest/doctest.h>

#include <csetjmp>
#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

using namespace test;

namespace {

// After any fault the same process must go on launching.
void checkUsable() {
  auto loop = loadImage("loop");
  auto sync = loadImage("sync");
  CHECK(launch(*loop, 0, shapeOf(100, 8)).outcome.message == "");
  const Launched sums = launch(*sync, 0, shapeOf(20, 128));
  CHECK(sums.outcome.message == "");
  CHECK(sums.out[77] == 5 * 8128 + 1280);
}

LaunchOutcome misbehave(const char* image, uint32_t mode, uint32_t blocks, uint32_t threads,
                        double timeoutSeconds = 20) {
  auto loaded = loadImage(image);
  return launch(*loaded, mode, shapeOf(blocks, threads), timeoutSeconds).outcome;
}

} // namespace

TEST_CASE("an illegal address in a loop image ends the launch") {
  const LaunchOutcome outcome = misbehave("loop", 1, 50, 4);
  CHECK(outcome.fault == FaultKind::IllegalAddress);
  CHECK(outcome.faultAddress == 0x1230);
  CHECK(outcome.message.find("'loop' accessed the illegal address 0x1230 in block (3,0,0)") !=
        std::string::npos);
  checkUsable();
}

TEST_CASE("what lies around shared memory is out of reach") {
  for (const uint32_t mode : {8u, 9u}) {
    const LaunchOutcome outcome = misbehave("loop", mode, 5, 4);
    CHECK(outcome.fault == FaultKind::IllegalAddress);
    CHECK(outcome.message.find("in block (2,0,0)") != std::string::npos);
  }
  checkUsable();
}

TEST_CASE("an illegal address on a fiber names the thread") {
  const LaunchOutcome outcome = misbehave("sync", 21, 5, 64);
  CHECK(outcome.fault == FaultKind::IllegalAddress);
  CHECK(outcome.faultAddress == 0x4560);
  CHECK(outcome.message.find("thread (33,0,0)") != std::string::npos);
  checkUsable();
}

TEST_CASE("a trap ends the launch") {
  CHECK(misbehave("loop", 3, 5, 4).fault == FaultKind::Trap);
  CHECK(misbehave("sync", 99, 5, 64).fault == FaultKind::Trap);
  checkUsable();
}

TEST_CASE("an integer division by zero is reported") {
  CHECK(misbehave("loop", 4, 2, 2).fault == FaultKind::Arithmetic);
  checkUsable();
}

TEST_CASE("a failed assertion has the vendor's words") {
  const LaunchOutcome outcome = misbehave("sync", 25, 1, 64);
  CHECK(outcome.fault == FaultKind::Assert);
  CHECK(outcome.message ==
        "a.cu:7: void f(): block: [0,0,0], thread: [2,0,0] Assertion `n < 4` failed.");
  checkUsable();
}

TEST_CASE("a deadlock says who waits for whom") {
  const LaunchOutcome outcome = misbehave("sync", 20, 2, 64);
  CHECK(outcome.fault == FaultKind::Deadlock);
  CHECK(outcome.message.find("waits in a vote with mask 0xffffffff for lanes 0xffff0000") !=
        std::string::npos);
  CHECK(outcome.message.find("barrier 2") != std::string::npos);
  checkUsable();
}

TEST_CASE("endless loops end at the timeout") {
  CHECK(misbehave("loop", 2, 4, 4, 0.05).fault == FaultKind::Timeout);
  CHECK(misbehave("sync", 23, 4, 64, 0.05).fault == FaultKind::Timeout);
  const LaunchOutcome outcome = misbehave("sync", 24, 4, 64, 0.05);
  CHECK(outcome.fault == FaultKind::Timeout);
  CHECK(outcome.message == "kernel 'sync' did not finish within 0.05 s");
  checkUsable();
}

TEST_CASE("a stack overflow is told from other faults") {
  CHECK(misbehave("sync", 22, 2, 64).fault == FaultKind::StackOverflow);
  checkUsable();
}

TEST_CASE("a bad string given to printf is the kernel's fault") {
  CHECK(misbehave("loop", 7, 1, 1).fault == FaultKind::IllegalAddress);
  checkUsable();
}

TEST_CASE("device malloc and free") { CHECK(misbehave("sync", 26, 2, 64).message == ""); }

// AddressSanitizer brings its own meaning of faults.
#if !defined(__SANITIZE_ADDRESS__) && !__has_feature(address_sanitizer)
namespace {

sigjmp_buf hostEscape;
volatile void* hostAddress;
void hostHandler(int, siginfo_t* info, void*) {
  hostAddress = info->si_addr;
  siglongjmp(hostEscape, 1);
}

int childStatus(void (*body)()) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL); // the test framework's own handler would print
    launch(*loadImage("loop"), 0, shapeOf(1, 1));
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

} // namespace

TEST_CASE("faults of the host program keep their meaning") {
  checkUsable();
  CHECK(WTERMSIG(childStatus([] { *(volatile int*)8 = 1; })) == SIGSEGV);
  CHECK(WTERMSIG(childStatus([] { raise(SIGSEGV); })) == SIGSEGV);
  CHECK(childStatus([] {
          struct sigaction action{};
          action.sa_flags = SA_SIGINFO;
          action.sa_sigaction = hostHandler;
          sigaction(SIGSEGV, &action, nullptr);
          checkUsable();
          if (sigsetjmp(hostEscape, 1) == 0)
            *(volatile int*)0x88 = 1;
          _exit(hostAddress == reinterpret_cast<void*>(0x88) ? 0 : 1);
        }) == 0);
}
#endif
