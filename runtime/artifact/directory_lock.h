// Room artifact (internal): mutual exclusion of processes that change one recording directory.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "runtime/base/file.h"

namespace mneme::artifact {

/// How long a lock is waited for. Somebody who holds it for longer than any of ours does is not
/// waited for again until the lock was free once.
struct LockPatience {
  std::chrono::milliseconds limit{10'000};
  bool wasInVain = false;
};

/// Holds an advisory lock on a directory. Where the file system offers none the lock is not held
/// and nothing else changes: one process at a time is then the user's care.
class DirectoryLock {
public:
  DirectoryLock(const std::filesystem::path& directory, LockPatience& patience) noexcept;
  DirectoryLock(DirectoryLock&&) = default;
  DirectoryLock& operator=(DirectoryLock&&) = delete;
  ~DirectoryLock();

  /// Another process has it and did not let go of it in time.
  bool isTaken() const noexcept { return isTaken_; }
  /// "process 4711 (rsync)", as far as that can be told.
  std::string holder() const;

private:
  UniqueFd file_;
  bool isTaken_ = false;
};

} // namespace mneme::artifact
