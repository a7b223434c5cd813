// Room artifact (internal): `unfinished-<pid>.pending`, the instances a session has taken and not
// written yet.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

namespace mneme::artifact {

struct PendingInstance {
  uint64_t staticHash = 0;
  uint64_t dynamicHash = 0;
  uint64_t sizeBytes = 0; ///< of the memory it describes, before the launch
  std::string kernel;
};

/// A line is added for each instance that is taken, and for each that is written: what was written
/// to a file stays when the process is killed. Lines are added by whoever takes or writes an
/// instance, each by a file of its own that is open no longer than the call. Thread-safe; what
/// cannot be written is left out.
class PendingFile {
public:
  explicit PendingFile(std::filesystem::path path) : path_(std::move(path)) {}
  void begins(const PendingInstance& instance) noexcept;
  void ends(uint64_t staticHash, uint64_t dynamicHash) noexcept;
  void remove() noexcept;

private:
  void append(const std::string& line) noexcept;
  std::filesystem::path path_;
  std::mutex mutex_;
};

/// The file that goes with a session's own.
std::filesystem::path pendingFileOf(const std::filesystem::path& sessionFile);

/// What was taken and not written; lines that make no sense are passed over. Empty if there is no
/// such file. Never throws for damaged content.
std::vector<PendingInstance> readPendingFile(const std::filesystem::path& path);

} // namespace mneme::artifact
