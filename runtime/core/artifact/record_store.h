// Room core/artifact (internal): the `<static hash>.json` files of one directory to which a session
// adds. Used by the writer's worker thread only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/core/artifact/directory_lock.h"
#include "runtime/core/artifact/recording.h"
#include "runtime/core/artifact/unsynced_files.h"

namespace mneme::artifact {

class RecordStore {
public:
  explicit RecordStore(std::filesystem::path directory) : directory_(std::move(directory)) {}

  /// Writes the modules, which get their names by publishCode(), and keeps the record; the JSON is
  /// written with the first instance. Returns the number of bytes written. \throws Error{IoFailed}
  uint64_t add(KernelRecord record, const std::vector<std::vector<std::byte>>& modules);
  bool contains(uint64_t staticHash) const { return kernels_.contains(staticHash); }

  /// Returns the instance as published by this session or an earlier one.
  std::optional<Instance> published(uint64_t staticHash, uint64_t dynamicHash);

  /// Adds or replaces an instance, which publish() writes. Returns the one that it replaces.
  std::optional<Instance> enter(uint64_t staticHash, const Instance& instance);
  /// Takes back an instance that was entered, unless another has replaced it since.
  void leave(uint64_t staticHash, const Instance& instance, const std::optional<Instance>& before);
  /// How many files of kernels wait for publishCode().
  size_t waitingCode() const { return code_.size(); }
  /// Brings the files of added kernels to the disk, then gives them their names. Kernels of which
  /// that fails are forgotten; returns why, by static hash.
  std::map<uint64_t, std::string> publishCode();
  /// Writes the JSON of every kernel that has entered instances, many at the same time. The caller
  /// has called lock(). A JSON that cannot be read now is not replaced: this session's instances
  /// are written to a record next to it, and into the JSON once it can be read. Returns why a JSON
  /// could not be written, by static hash; it is then as before.
  std::map<uint64_t, std::string> publish();

  /// Static hashes of all kernels of this session.
  std::vector<uint64_t> kernels() const;

  /// Updates a count, which publishCounts() writes.
  void setOccurrences(uint64_t staticHash, uint64_t dynamicHash, uint64_t occurrences);
  void setLaunches(uint64_t staticHash, uint64_t launches);
  /// \throws Error{IoFailed} for the first record that could not be written
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
        beside;           ///< the record next to it that has own instances meanwhile; or empty
    size_t entered = 0;   ///< instances that wait for publish()
    bool isDirty = false; ///< counts wait for publishCounts()
    /// State of the file as last written by this store. While it is unchanged, no other session has
    /// added to the file.
    FileState written;
  };
  /// A file of a kernel under a temporary name.
  struct Code {
    uint64_t staticHash = 0;
    UnsyncedFile file;
    std::filesystem::path path;                                    ///< its name
    std::vector<std::pair<uint64_t, std::filesystem::path>> links; ///< for other kernels
  };
  uint64_t addImages(KernelRecord& record);
  uint64_t writeCode(uint64_t staticHash, const std::filesystem::path& path,
                     std::span<const std::byte> bytes);
  bool isLinked(const KernelRecord& record, const std::filesystem::path& path);
  static void nameCode(const Code& code, std::map<uint64_t, std::string>& failures);
  FileState stateOf(const std::filesystem::path& path) const;
  std::string mergeOthers(Kernel& kernel) const;
  void write(Kernel& kernel) const;
  void writeBeside(Kernel& kernel, const std::string& whyKept) const;
  std::map<uint64_t, std::string> writeAll(const std::vector<Kernel*>& kernels);
  std::filesystem::path directory_;
  LockPatience patience_;
  std::map<uint64_t, Kernel> kernels_;
  std::vector<Code> code_; ///< not on the disk yet
};

} // namespace mneme::artifact
