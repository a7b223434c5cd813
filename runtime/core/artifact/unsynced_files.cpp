#include "runtime/core/artifact/unsynced_files.h"

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"
#include "runtime/core/base/parallel.h"

namespace mneme::artifact {

UnsyncedFile writeTemporary(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  const std::filesystem::path name = temporaryName(path);
  UnsyncedFile written{UniqueFd(open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644)),
                       name};
  if (!written.file)
    throw Error(ErrorCode::IoFailed, systemMessage("cannot create '" + name.string() + "'", errno));
  try {
    writeAll(written.file.get(), bytes, name);
  } catch (...) {
    unlink(name.c_str());
    throw;
  }
  return written;
}

std::vector<std::string> syncTogether(const std::vector<const UnsyncedFile*>& files) {
  std::vector<std::string> failures(files.size());
  parallelFor(files.size(), kSyncThreads, [&](uint64_t index) {
    const UnsyncedFile& one = *files[index];
    if (fsync(one.file.get()) == 0)
      return;
    // An application that shares descriptors with us may have closed it.
    int error = errno;
    if (error == EBADF) {
      const UniqueFd again(open(one.path.c_str(), O_RDONLY | O_CLOEXEC));
      error = again && fsync(again.get()) == 0 ? 0 : errno;
    }
    if (error != 0)
      failures[index] = systemMessage("cannot sync '" + one.path.string() + "'", error);
  });
  return failures;
}

} // namespace mneme::artifact
