// Room artifact (internal): mutual exclusion of processes that change one recording directory.
#pragma once

#include <filesystem>

#include "runtime/base/file.h"

namespace mneme::artifact {

/// Holds an advisory lock on a directory. Where the file system offers none the lock is not held
/// and nothing else changes: one process at a time is then the user's care.
class DirectoryLock {
public:
  explicit DirectoryLock(const std::filesystem::path& directory) noexcept;
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

private:
  UniqueFd file_;
};

} // namespace mneme::artifact
