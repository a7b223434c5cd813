#include "runtime/core/artifact/directory_lock.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "runtime/core/artifact/names.h"

namespace mneme::artifact {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Between two looks; ours hold the lock for some milliseconds.
constexpr milliseconds kFirstPause{1}, kLongestPause{50};

/// Whether the lock was had, or cannot be had at all, before the time was over.
bool waitFor(int file, milliseconds limit) noexcept {
  const auto end = Clock::now() + limit;
  for (milliseconds pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    if (flock(file, LOCK_EX | LOCK_NB) == 0)
      return true;
    if (errno == EINTR)
      continue;
    if (errno != EWOULDBLOCK)
      return true;
    if (Clock::now() >= end)
      return false;
    std::this_thread::sleep_for(pause);
  }
}

/// Finds who holds a lock on this inode, from a line as "1: FLOCK ADVISORY WRITE 4711 08:01:1234 0
/// EOF".
std::string holderOf(ino_t inode) {
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, mode, access, pid, place;
    words >> number >> kind >> mode >> access >> pid >> place;
    if (kind == "FLOCK" && place.ends_with(":" + std::to_string(inode)))
      return pid;
  }
  return "";
}

} // namespace

DirectoryLock::DirectoryLock(const std::filesystem::path& directory,
                             LockPatience& patience) noexcept
    : file_(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (!file_)
    return;
  isTaken_ = !waitFor(file_.get(), patience.wasInVain ? milliseconds(0) : patience.limit);
  patience.wasInVain = isTaken_;
}

DirectoryLock::~DirectoryLock() {
  if (file_ && !isTaken_)
    flock(file_.get(), LOCK_UN); // a forked child may share the descriptor: closing is not enough
}

std::string DirectoryLock::holder() const {
  struct stat status{};
  const std::string pid =
      file_ && fstat(file_.get(), &status) == 0 ? holderOf(status.st_ino) : std::string();
  if (pid.empty() || pid == "0" || pid == "-1") // in another container, or on another machine
    return "another process";
  std::ifstream file("/proc/" + pid + "/comm");
  std::string name;
  std::getline(file, name);
  return "process " + pid + (name.empty() ? "" : " (" + printable(name) + ")");
}

} // namespace mneme::artifact
