#include "runtime/core/base/own_descriptors.h"

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/core/base/blocked_signals.h"
#include "runtime/core/base/cancellation.h"
#include "runtime/core/base/standard_error.h"
#include "runtime/core/base/unique_fd.h"

namespace mneme {
namespace {

constexpr unsigned kUnshare = 2; // CLOSE_RANGE_UNSHARE
constexpr unsigned kFirstOther = 3;
/// How long a look at the dynamic loader's lists may take on a busy machine: the first one, and
/// those after one that took too long.
constexpr std::chrono::milliseconds kLongestLook{2000}, kLaterLook{50};

thread_local bool isOwn = false;
thread_local std::chrono::milliseconds longestLook = kLongestLook;

bool closeRange([[maybe_unused]] unsigned first, [[maybe_unused]] unsigned last,
                [[maybe_unused]] unsigned flags) noexcept {
#ifdef SYS_close_range
  return syscall(SYS_close_range, first, last, flags) == 0;
#else
  return false;
#endif
}

void closeListed() noexcept {
  DIR* listing = opendir("/proc/thread-self/fd");
  if (!listing)
    return;
  while (const dirent* entry = readdir(listing)) {
    const int number = std::atoi(entry->d_name);
    if (number >= static_cast<int>(kFirstOther) && number != dirfd(listing))
      close(number);
  }
  closedir(listing);
}

/// A table of its own that has the standard descriptors of the application's only. Where the kernel
/// can, the others are never copied: closing a copy has effects for some files.
bool leaveTable() noexcept {
  if (closeRange(kFirstOther, ~0u, kUnshare))
    return true;
  if (unshare(CLONE_FILES) != 0)
    return false;
  closeListed();
  return true;
}

/// A copy of a descriptor in the table that was left; -1 where the kernel has no such call.
int fetch([[maybe_unused]] int number) noexcept {
#if defined(SYS_pidfd_open) && defined(SYS_pidfd_getfd)
  const auto process = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0));
  if (process < 0)
    return -1;
  const auto copy = static_cast<int>(syscall(SYS_pidfd_getfd, process, number, 0));
  close(process);
  return copy;
#else
  return -1;
#endif
}

void fillStandardPlaces(int notices) noexcept {
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0)
    null = memfd_create("mneme-nowhere", MFD_CLOEXEC);
  if (null < 0)
    return;
  for (const int place : {STDIN_FILENO, STDOUT_FILENO})
    if (null != place)
      dup2(null, place);
  if (const int third = notices >= 0 ? notices : null; third != STDERR_FILENO)
    dup2(third, STDERR_FILENO);
  for (const int spare : {null, notices})
    if (spare > STDERR_FILENO)
      close(spare);
}

/// What is to be done apart, between the thread that asks for it and the one that does it.
struct Errand {
  const std::function<void()>* work = nullptr;
  std::exception_ptr failure;
  std::mutex mutex;
  std::condition_variable changed;
  enum { Asked, Looking, Begun, TakenBack } state = Asked;
};

void perform(const std::shared_ptr<Errand>& errand) noexcept {
  takeOwnDescriptors();
  {
    const std::lock_guard lock(errand->mutex);
    errand->state = Errand::Looking;
  }
  errand->changed.notify_one();
  // The waiting thread may hold the dynamic loader's lock, as the constructor of a library does. If
  // the work took that lock, both threads would wait for each other, so dladdr() takes it first.
  Dl_info ignored;
  dladdr(reinterpret_cast<const void*>(&perform), &ignored);
  {
    const std::lock_guard lock(errand->mutex);
    if (errand->state == Errand::TakenBack)
      return;
    errand->state = Errand::Begun;
  }
  errand->changed.notify_one();
  try {
    (*errand->work)();
  } catch (...) {
    errand->failure = std::current_exception();
  }
}

/// Not joinable if no thread is to be had.
std::thread start(const std::shared_ptr<Errand>& errand) noexcept {
  try {
    const BlockedSignals blocked;
    return std::thread([errand] { perform(errand); });
  } catch (const std::exception&) {
    return {};
  }
}

/// False when the work is to be done here after all.
bool isDone(std::thread& thread, Errand& errand) {
  std::unique_lock lock(errand.mutex);
  errand.changed.wait(lock, [&] { return errand.state != Errand::Asked; });
  const bool isBegun =
      errand.changed.wait_for(lock, longestLook, [&] { return errand.state == Errand::Begun; });
  longestLook = isBegun ? kLongestLook : kLaterLook;
  if (!isBegun)
    errand.state = Errand::TakenBack;
  lock.unlock();
  if (isBegun)
    thread.join();
  else
    thread.detach();
  return isBegun;
}

} // namespace

bool takeOwnDescriptors() noexcept {
  if (isOwn)
    return true;
  const int notices = standardError();
  isOwn = leaveTable();
  if (isOwn)
    fillStandardPlaces(notices > STDERR_FILENO ? fetch(notices) : notices);
  else
    keepDescriptorsHigh();
  return isOwn;
}

void runApart(const std::function<void()>& work) {
  if (isOwn)
    return work();
  const auto errand = std::make_shared<Errand>();
  errand->work = &work;
  std::thread thread = start(errand);
  if (!thread.joinable())
    return work();
  int before = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before); // `work` uses what is on this stack
  const bool wasDone = isDone(thread, *errand);
  restoreCancellation(before);
  if (!wasDone)
    return work();
  if (errand->failure)
    std::rethrow_exception(errand->failure);
}

} // namespace mneme
