// Room compiler: functions that LLVM's archives call and older C libraries lack. Debian builds the
// archives for glibc 2.36; with these functions libmneme_compile only needs 2.34, as in RHEL 9. The
// symbols are hidden.
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <sys/random.h>
#include <unistd.h>

/// glibc has it since 2.36. LLVM names temporary files with it.
extern "C" uint32_t arc4random() noexcept {
  uint32_t number = 0;
  // Up to 256 bytes come whole or not at all; only a signal or a forbidden system call leaves none.
  while (getrandom(&number, sizeof number, 0) < 0) {
    if (errno != EINTR)
      return static_cast<uint32_t>(clock()) ^ static_cast<uint32_t>(getpid());
  }
  return number;
}
