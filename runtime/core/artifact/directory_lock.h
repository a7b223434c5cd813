// Room core/artifact (internal): mutual exclusion of processes that change one recording directory.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "runtime/core/base/file.h"

namespace mneme::artifact {

/// How long to wait for a lock. After another process has held it for longer than any process of
/// mneme does, it is no longer waited for until it has been free once.
struct LockPatience {
  std::chrono::milliseconds limit{10'000};
  bool wasInVain = false;
};

/// Holds an advisory lock on a directory. If the file system offers none, nothing is locked and
/// nothing else changes: the user must then run one process at a time.
class DirectoryLock {
public:
  DirectoryLock(const std::filesystem::path& directory, LockPatience& patience) noexcept;
  DirectoryLock(DirectoryLock&&) = default;
  DirectoryLock& operator=(DirectoryLock&&) = delete;
  ~DirectoryLock();

  /// Whether another process has the lock and did not release it in time.
  bool isTaken() const noexcept { return isTaken_; }
  /// Returns the owner, such as "process 4711 (rsync)", as far as it is known.
  std::string holder() const;

private:
  UniqueFd file_;
  bool isTaken_ = false;
};

} // namespace mneme::artifact
