#include "runtime/compiler/service/turn.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "runtime/compiler/service/cache_files.h"

namespace mneme::compile {
namespace {

// Compilations take 10 ms and more; a thousand processes may wait for one on a shared file system.
constexpr std::chrono::milliseconds kLookAgain{5};
constexpr std::chrono::milliseconds kLookAgainAtLast{250};
constexpr size_t kMaxNoteBytes = 65536;

} // namespace

CompileTurn::CompileTurn(const std::filesystem::path& directory, const Hash128& key,
                         double timeoutSeconds)
    : path_(directory / (toHex(key) + std::string(kLockSuffix))),
      file_(open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600)) {
  struct stat status = {};
  const bool isFile = file_ && fstat(file_.get(), &status) == 0 && S_ISREG(status.st_mode);
  isHeld_ = isFile && wait(timeoutSeconds);
  // What an earlier compilation has noted is none of our business, unless we waited for it.
  if (isHeld_ && !hasWaited_) [[maybe_unused]]
    const int ignored = ftruncate(file_.get(), 0);
}

bool CompileTurn::wait(double timeoutSeconds) {
  const auto start = std::chrono::steady_clock::now();
  for (auto pause = kLookAgain;; pause = std::min(pause * 3 / 2, kLookAgainAtLast)) {
    if (flock(file_.get(), LOCK_EX | LOCK_NB) == 0)
      return true;
    if (errno == EINTR)
      continue;
    if (errno != EWOULDBLOCK)
      return false;
    hasWaited_ = true;
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
    if (timeoutSeconds > 0 && waited.count() > timeoutSeconds)
      return false;
    std::this_thread::sleep_for(pause);
  }
}

CompileTurn::~CompileTurn() {
  if (!isHeld_)
    return;
  if (!hasFailed_)
    unlink(path_.c_str());
  flock(file_.get(), LOCK_UN); // processes forked meanwhile hold the descriptor too
}

void CompileTurn::throwIfFailedMeanwhile() const {
  if (!isHeld_ || !hasWaited_)
    return;
  std::string note(kMaxNoteBytes, '\0');
  const ssize_t count = pread(file_.get(), note.data(), note.size(), 0);
  note.resize(count > 0 ? static_cast<size_t>(count) : 0);
  const size_t blank = note.find(' ');
  if (blank != std::string::npos)
    throw Error(static_cast<ErrorCode>(atoi(note.c_str())), note.substr(blank + 1));
}

void CompileTurn::noteFailure(const Error& error) noexcept {
  if (!isHeld_)
    return;
  hasFailed_ = true;
  try {
    const std::string note =
        std::to_string(static_cast<int>(error.code())) + " " + std::string(error.what());
    [[maybe_unused]] const bool isCut = ftruncate(file_.get(), 0) != 0;
    writeAll(file_.get(), std::as_bytes(std::span(note.data(), note.size())), path_);
  } catch (const std::exception&) { // a full disk: they try for themselves
  }
}

} // namespace mneme::compile
