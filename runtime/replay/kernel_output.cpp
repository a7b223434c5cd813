#include "runtime/replay/kernel_output.h"

#include <cstdio>
#include <fcntl.h>
#include <mutex>
#include <unistd.h>

namespace mneme::replay {

namespace {

std::mutex theMutex;
int living = 0;
int savedOutput = -1;

} // namespace

KernelOutput::KernelOutput() noexcept {
  const std::lock_guard lock(theMutex);
  if (living++ > 0)
    return;
  std::fflush(stdout);
  savedOutput = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (savedOutput >= 0)
    dup2(STDERR_FILENO, STDOUT_FILENO);
}

KernelOutput::~KernelOutput() {
  const std::lock_guard lock(theMutex);
  if (--living > 0 || savedOutput < 0)
    return;
  std::fflush(stdout);
  dup2(savedOutput, STDOUT_FILENO);
  close(savedOutput);
  savedOutput = -1;
}

} // namespace mneme::replay
