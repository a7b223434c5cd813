// Room core/artifact (internal): the `<static hash>.json` files of one directory to which a session
// adds. Used by the writer's worker thread only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/core/artifact/directory_lock.h"
#include "runtime/core/artifact/recording.h"

namespace mneme::artifact {

class RecordStore {
public:
  explicit RecordStore(std::filesystem::path directory) : directory_(std::move(directory)) {}

  /// Writes the modules and keeps the record; the JSON is written with the first instance. Returns
  /// the number of bytes written. \throws Error{IoFailed}
  uint64_t add(KernelRecord record, const std::vector<std::vector<std::byte>>& modules);
  bool contains(uint64_t staticHash) const { return kernels_.contains(staticHash); }

  /// Returns the instance as published by this session or an earlier one.
  std::optional<Instance> published(uint64_t staticHash, uint64_t dynamicHash);

  /// Adds or replaces an instance and publishes the JSON. The caller has called lock(). A JSON that
  /// cannot be read now is not replaced: this session's instances are written to a record next to
  /// it, and into the JSON once it can be read.
  /// \throws Error{IoFailed}; the store is then as before.
  void publish(uint64_t staticHash, const Instance& instance);

  /// Static hashes of all kernels of this session.
  std::vector<uint64_t> kernels() const;

  /// Updates a count; publishes nothing until publishCounts().
  void setOccurrences(uint64_t staticHash, uint64_t dynamicHash, uint64_t occurrences);
  void setLaunches(uint64_t staticHash, uint64_t launches);
  void publishCounts();

  /// Takes the directory's lock. A session continues without it if another process keeps it, and
  /// reports that once: every name is used only once anyway, and records are merged with existing
  /// ones.
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
    std::map<uint64_t, Instance> others; ///< of other sessions, as last read
    uint64_t othersLaunches = 0;
    std::vector<std::filesystem::path> merged; ///< files that `others` includes
    bool hasMerged = false;                    ///< whether such files were searched for
    std::filesystem::path
        beside; ///< the record next to it that has own instances meanwhile; or empty
    bool isDirty = false;
    /// State of the file as last written by this store. While it is unchanged, no other session has
    /// added to the file.
    FileState written;
  };
  uint64_t addImages(KernelRecord& record) const;
  bool isLinked(const KernelRecord& record, const std::filesystem::path& path) const;
  FileState stateOf(const std::filesystem::path& path) const;
  std::string mergeOthers(Kernel& kernel) const;
  void write(Kernel& kernel) const;
  void writeBeside(Kernel& kernel, const std::string& whyKept) const;
  std::filesystem::path directory_;
  LockPatience patience_;
  std::map<uint64_t, Kernel> kernels_;
};

} // namespace mneme::artifact
