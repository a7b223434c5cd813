// Room record: whether the program may give device memory to other processes. Memory that was
// placed cannot be given: drivers make handles for their own allocations only.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>

namespace mneme::record {

/// What loaded code says about itself, looked at again whenever a library was loaded. Thread-safe.
///
/// Such a program imports the function that makes a handle, or looks it up by its name. Libraries
/// that could, but mostly do not (MPI's, Python's frameworks), count where there are several
/// processes to share with: a launcher says so.
class Sharing {
public:
  explicit Sharing(bool hasSeveralProcesses = wasStartedWithOthers())
      : hasSeveralProcesses_(hasSeveralProcesses) {}

  /// The file of the program or library that may share memory; empty if none is loaded.
  std::string sharer() noexcept;

  /// By the variables that launchers of parallel programs set.
  static bool wasStartedWithOthers() noexcept;

private:
  std::mutex mutex_;
  const bool hasSeveralProcesses_;
  unsigned long long loads_ = 0; ///< that were looked at
  std::string sharer_;
};

/// One loaded object, as the dynamic loader lists it.
struct LoadedObject {
  const char* path = "";
  bool isProgram = false;
  /// It has an undefined symbol of a function that exports memory.
  bool importsExport = false;
  /// Such a name stands in its constants; only asked for where that counts.
  bool namesExport = false;
};

/// What the file's name lets expect.
enum class SharerKind {
  Any,       ///< counts if it imports such a function
  Transport, ///< moves memory between processes: counts there, whatever it imports
  Parallel,  ///< counts there if it imports or names such a function
  Framework, ///< counts there if it imports one
};
SharerKind sharerKindOf(const char* path) noexcept;

/// The decision for one object.
bool mayShare(const LoadedObject& object, bool hasSeveralProcesses) noexcept;

} // namespace mneme::record
