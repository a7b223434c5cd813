// Room artifact (internal): `unfinished-<pid>.session`, the note a recording session leaves.
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/artifact/pending_file.h"

namespace mneme::artifact {

/// The session file of this process. Thread-safe; after construction failures to write are ignored,
/// because a note that cannot be written must not cost a recording.
class SessionFile {
public:
  /// Writes the file. \throws Error{IoFailed} if the directory cannot be written.
  explicit SessionFile(const std::filesystem::path& directory);
  /// What is taken and not written yet; gone when the session finishes.
  PendingFile& pending() noexcept { return *pending_; }
  void addLoss(const std::string& sentence) noexcept;
  /// Removes the file, or, when something was lost, marks it as finished.
  void finish() noexcept;
  /// The session goes on after all.
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

/// What a session file says about the session that wrote it.
struct SessionNote {
  bool isRunning = false;
  bool isFinished = false;
  bool isReadable = false;            ///< it is a session file, not only called like one
  std::vector<std::string> sentences; ///< for people: killed, running, what was lost
};

/// Never throws for damaged content: the note then says so.
SessionNote readSessionFile(const std::filesystem::path& path);

/// Whether a session of another process records into `directory` now.
bool hasOtherSession(const std::filesystem::path& directory) noexcept;

} // namespace mneme::artifact
