// What a program says that dies where there is no GPU: of managed or pinned memory that its runtime
// did not allocate, before it launches a kernel. C library only.
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/core/base/environment.h"
#include "runtime/core/base/standard_error.h"
#include "runtime/jit/rt/rt_launch.h"

namespace {

// A GPU of NVIDIA has one of these, the second below Windows.
constexpr const char* kDrivers[] = {"/dev/nvidiactl", "/dev/dxg"};

/// Made beforehand: a handler may do little more than write.
char sentence[1200];

/// Is no handler any more when it is called. What happened then happens again, and ends the program
/// as it would have ended.
void tell(int signal, siginfo_t* info, void*) {
  const int error = errno;
  if (write(mneme::standardError(), sentence, strlen(sentence)) < 0)
    errno = error;
  if (info->si_code <= 0) // sent by somebody, who does not send it again
    raise(signal);
  errno = error;
}

bool hasGpu() {
  for (const char* const driver : kDrivers)
    if (access(driver, F_OK) == 0)
      return true;
  return false;
}

/// The CPU device stands in for CUDA, and AMD's runtime tells in another way what it lacks.
bool isElsewhere() {
  constexpr const char* kSigns[] = {"mneme_cudart_device_name", "mneme_hiprt_device_name",
                                    "hipLaunchKernel"};
  for (const char* const sign : kSigns)
    if (dlsym(RTLD_DEFAULT, sign))
      return true;
  return false;
}

} // namespace

namespace mneme::rt {

void prepareToTellOfNoGpu() {
  struct sigaction now{};
  if (sentence[0] || isPrivileged() || hasGpu() || isElsewhere() ||
      sigaction(SIGSEGV, nullptr, &now) != 0 || now.sa_handler != SIG_DFL)
    return;
  snprintf(
      sentence, sizeof sentence,
      "mneme: this program dies where there is no GPU for its kernels and its memory; to run it "
      "without one: mneme run --device cpu -- %.900s\n",
      program_invocation_name);
  rememberStandardError();
  now.sa_sigaction = tell;
  now.sa_flags = SA_SIGINFO | SA_RESETHAND | SA_NODEFER | SA_ONSTACK;
  sigemptyset(&now.sa_mask);
  sigaction(SIGSEGV, &now, nullptr);
}

} // namespace mneme::rt
