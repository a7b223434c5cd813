// Room core/artifact (internal): `unfinished-<pid>.session`, the note a recording session leaves.
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/core/artifact/pending_file.h"

namespace mneme::artifact {

/// The session file of this process. Thread-safe. Failed writes after construction are ignored,
/// because a missing note must not cost the recording.
class SessionFile {
public:
  /// Writes the file. \throws Error{IoFailed} if the directory cannot be written.
  explicit SessionFile(const std::filesystem::path& directory);
  /// The instances that are taken and not written yet; removed when the session finishes.
  PendingFile& pending() noexcept { return *pending_; }
  const std::filesystem::path& path() const noexcept { return path_; }
  void addLoss(const std::string& sentence) noexcept;
  /// Removes the file or, if something was lost, marks it as finished.
  void finish() noexcept;
  /// Call it when the session continues after finish().
  void reopen() noexcept;

private:
  std::string text(bool isFinished) const;
  std::filesystem::path path_;
  std::optional<PendingFile> pending_;
  std::string started_;
  std::mutex mutex_;
  std::vector<std::string> losses_;
  size_t unnamedLosses_ = 0;
  bool isFinished_ = false;
};

/// The content of a session file.
struct SessionNote {
  bool isRunning = false;
  bool isFinished = false;
  bool isReadable = false;            ///< whether it is a session file, not merely named like one
  std::vector<std::string> sentences; ///< for users: whether killed or running, what was lost
};

/// Reads a session file. Never throws for damaged content: isReadable is false then.
SessionNote readSessionFile(const std::filesystem::path& path);

/// Whether a session other than that of the file `own` records into `directory` now.
bool hasOtherSession(const std::filesystem::path& directory,
                     const std::filesystem::path& own) noexcept;

} // namespace mneme::artifact
