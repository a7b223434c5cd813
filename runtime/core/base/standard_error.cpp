#include "runtime/core/base/standard_error.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mneme {
namespace {

/// Programs that may open fewer files may need them all.
constexpr rlim_t kEnoughFiles = 4096;
/// The kernel keeps an entry for each number up to the highest in use, and fork() copies them.
constexpr rlim_t kHighest = 32768;
/// Where a second descriptor may be, counted from the first place that is looked at.
constexpr int kPlaces = 8;

struct {
  bool isRemembered;
  struct stat file;
  int second; ///< descriptor, or -1
  int (*other)();
} state = {false, {}, -1, nullptr};

bool isSameFile(int descriptor) noexcept {
  struct stat now;
  return descriptor >= 0 && fstat(descriptor, &now) == 0 && now.st_dev == state.file.st_dev &&
         now.st_ino == state.file.st_ino && now.st_rdev == state.file.st_rdev;
}

/// One of a library like this one: what is closed by exec() was opened by this program, which has
/// not begun.
int findSecond(int first) noexcept {
  for (int place = first; place < first + kPlaces; ++place)
    if (const int flags = fcntl(place, F_GETFD); flags >= 0 && (flags & FD_CLOEXEC) != 0)
      if (isSameFile(place))
        return place;
  return fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, first);
}

/// Above what open() returns, by raising the limit for the moment; below where it cannot be raised.
int secondDescriptor() noexcept {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return -1;
  if (limit.rlim_cur >= kHighest)
    return findSecond(static_cast<int>(kHighest) - kPlaces);
  const rlim_t above = limit.rlim_cur + kPlaces;
  // The hard limit is only root's to raise, and to lower again.
  const rlimit raised = {above, above > limit.rlim_max ? above : limit.rlim_max};
  if (setrlimit(RLIMIT_NOFILE, &raised) == 0) {
    const int high = findSecond(static_cast<int>(limit.rlim_cur));
    setrlimit(RLIMIT_NOFILE, &limit);
    return high;
  }
  return limit.rlim_cur < kEnoughFiles ? -1
                                       : findSecond(static_cast<int>(limit.rlim_cur) - kPlaces);
}

/// Closes our copy of stderr: a reader of the pipe must not wait for a daemon that has closed its
/// own.
void forgetSecond() noexcept {
  if (isSameFile(state.second))
    close(state.second);
  state.second = -1;
}

} // namespace

void rememberStandardError() noexcept {
  // Closed from the start: whatever gets that number is the program's.
  state.isRemembered = true;
  if (fstat(STDERR_FILENO, &state.file) != 0) {
    state.file.st_ino = 0;
    return;
  }
  state.second = secondDescriptor();
  if (state.second >= 0)
    pthread_atfork(nullptr, nullptr, forgetSecond);
}

int standardError() noexcept {
  if (state.other)
    return state.other();
  if (!state.isRemembered || isSameFile(STDERR_FILENO))
    return STDERR_FILENO;
  return isSameFile(state.second) ? state.second : -1;
}

void useStandardErrorOf(int (*other)()) noexcept { state.other = other; }

} // namespace mneme
