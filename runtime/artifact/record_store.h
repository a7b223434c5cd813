// Room artifact (internal): the `<static hash>.json` files of one directory while a session adds to
// them. Used by the writer's worker thread only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/artifact/directory_lock.h"
#include "runtime/artifact/recording.h"

namespace mneme::artifact {

class RecordStore {
public:
  explicit RecordStore(std::filesystem::path directory) : directory_(std::move(directory)) {}

  /// Writes the modules and takes the record over; the JSON follows with the first instance.
  /// Returns the bytes written. \throws Error{IoFailed}
  uint64_t add(KernelRecord record, const std::vector<std::vector<std::byte>>& modules);
  bool contains(uint64_t staticHash) const { return kernels_.contains(staticHash); }

  /// The instance as published, by this session or an earlier one.
  std::optional<Instance> published(uint64_t staticHash, uint64_t dynamicHash);

  /// Adds or replaces an instance and publishes the JSON; the caller has called lock(). A
  /// JSON that is there and cannot be read now is not replaced: this session's instances go into a
  /// record beside it, and into the JSON once it can be read.
  /// \throws Error{IoFailed}; the store is then as before.
  void publish(uint64_t staticHash, const Instance& instance);

  /// Static hashes of all kernels of this session.
  std::vector<uint64_t> kernels() const;

  /// Updates a count; publishes nothing until publishCounts().
  void setOccurrences(uint64_t staticHash, uint64_t dynamicHash, uint64_t occurrences);
  void setLaunches(uint64_t staticHash, uint64_t launches);
  void publishCounts();

  /// The directory's lock. A session goes on without it when somebody else keeps it, which is said
  /// once: every name is taken only once anyway, and records are merged with what is there.
  DirectoryLock lock();

private:
  struct FileState {
    uint64_t inode = 0;
    uint64_t sizeBytes = 0;
    uint64_t changedNs = 0;
    bool operator==(const FileState&) const = default;
  };
  struct Kernel {
    KernelRecord record;                 ///< own instances only
    std::map<uint64_t, Instance> others; ///< of other sessions, as of the last look
    uint64_t othersLaunches = 0;
    std::vector<std::filesystem::path> merged; ///< files that `others` includes
    bool hasMerged = false;                    ///< looked for such files
    std::filesystem::path beside;              ///< where own instances are meanwhile; or empty
    bool isDirty = false;
    /// The file as this store wrote it last: while it is the same, nobody added to it.
    FileState written;
  };
  FileState stateOf(const std::filesystem::path& path) const;
  std::string mergeOthers(Kernel& kernel) const;
  void write(Kernel& kernel) const;
  void writeBeside(Kernel& kernel, const std::string& whyKept) const;
  std::filesystem::path directory_;
  LockPatience patience_;
  std::map<uint64_t, Kernel> kernels_;
};

} // namespace mneme::artifact
