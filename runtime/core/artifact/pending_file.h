// Room core/artifact (internal): `unfinished-<pid>.pending`, the instances a session has taken and
// not written yet.
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

/// Gets a line for each instance that is taken and for each that is written; the lines survive when
/// the process is killed. The thread that takes or writes an instance adds its line, and opens the
/// file for that call only. Thread-safe; lines that cannot be written are left out.
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

/// Returns the pending file that belongs to a session file.
std::filesystem::path pendingFileOf(const std::filesystem::path& sessionFile);

/// Returns the instances that were taken and not written. Invalid lines are ignored; without the
/// file the result is empty. Never throws for damaged content.
std::vector<PendingInstance> readPendingFile(const std::filesystem::path& path);

} // namespace mneme::artifact
