#include "runtime/core/base/unique_fd.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mneme {
namespace {

std::atomic<bool> isKeptHigh{false};

/// Below every larger table: the kernel keeps one entry for each number up to the highest in use.
constexpr rlim_t kHighest = 4096;
/// We use the last part of the numbers that a process may have.
constexpr rlim_t kOurPart = 4;

/// The descriptor under a high number if one is free, else as it was.
int moveUp(int raw) noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return raw;
  const rlim_t end = std::min(limit.rlim_cur, kHighest);
  const int high = fcntl(raw, F_DUPFD_CLOEXEC, static_cast<int>(end - end / kOurPart));
  if (high < 0)
    return raw;
  close(raw);
  return high;
}

/// Restores errno: callers look at it after the constructor and in destructors' scopes.
class KeptErrno {
public:
  ~KeptErrno() { errno = value_; }

private:
  int value_ = errno;
};

} // namespace

void keepDescriptorsHigh() noexcept { isKeptHigh = true; }

UniqueFd::UniqueFd(int raw) noexcept : raw_(raw) {
  if (raw < 0)
    return;
  const KeptErrno kept;
  if (isKeptHigh.load(std::memory_order_relaxed))
    raw_ = moveUp(raw);
  struct stat status{};
  if (fstat(raw_, &status) == 0) {
    device_ = status.st_dev;
    inode_ = status.st_ino;
  }
}

UniqueFd::UniqueFd(UniqueFd&& other) noexcept
    : raw_(std::exchange(other.raw_, -1)), device_(other.device_), inode_(other.inode_) {}

UniqueFd& UniqueFd::operator=(UniqueFd&& other) noexcept {
  std::swap(raw_, other.raw_);
  std::swap(device_, other.device_);
  std::swap(inode_, other.inode_);
  return *this;
}

UniqueFd::~UniqueFd() {
  const KeptErrno kept;
  if (const int raw = get(); raw >= 0)
    close(raw);
}

int UniqueFd::get() const noexcept {
  if (raw_ < 0)
    return -1;
  const KeptErrno kept;
  struct stat status{};
  const bool isOurs =
      fstat(raw_, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
  return isOurs ? raw_ : -1;
}

} // namespace mneme
