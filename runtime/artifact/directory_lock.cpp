#include "runtime/artifact/directory_lock.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/file.h>

namespace mneme::artifact {

DirectoryLock::DirectoryLock(const std::filesystem::path& directory) noexcept
    : file_(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (file_)
    while (flock(file_.get(), LOCK_EX) != 0 && errno == EINTR) {
    }
}

DirectoryLock::~DirectoryLock() {
  if (file_)
    flock(file_.get(), LOCK_UN); // a forked child may share the descriptor: closing is not enough
}

} // namespace mneme::artifact
