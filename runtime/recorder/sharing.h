// Room recorder: detects programs that may share device memory with other processes. Placed memory
// cannot be shared: drivers make handles for their own allocations only.
#pragma once

#include <mutex>
#include <string>

namespace mneme::record {

/// Inspects loaded code, again whenever a library was loaded. Thread-safe.
///
/// A program that shares memory imports the function that makes a handle, or looks it up by name.
/// Libraries that can share but mostly do not (MPI's, Python's frameworks) count only if a launcher
/// has started several processes.
class Sharing {
public:
  explicit Sharing(bool hasSeveralProcesses = wasStartedWithOthers())
      : hasSeveralProcesses_(hasSeveralProcesses) {}

  /// Returns the file of the program or library that may share memory; empty if none is loaded.
  std::string sharer() noexcept;

  /// Whether variables of launchers of parallel programs are set.
  static bool wasStartedWithOthers() noexcept;

private:
  std::mutex mutex_;
  const bool hasSeveralProcesses_;
  unsigned long long loads_ = 0; ///< number of loaded libraries at the last inspection
  std::string sharer_;
};

/// One loaded object, as the dynamic loader lists it.
struct LoadedObject {
  const char* path = "";
  bool isProgram = false;
  /// Whether it has an undefined symbol of a function that exports memory.
  bool importsExport = false;
  /// Whether its constants contain such a name, not only as part of a runtime that was linked in;
  /// determined only where it counts.
  bool namesExport = false;
};

/// The kind of library, judging by the file's name.
enum class SharerKind {
  Any,       ///< counts if it imports such a function
  Transport, ///< moves memory between processes: counts if there are several, regardless of imports
  Parallel,  ///< counts if there are several and it imports or names such a function
  Framework, ///< counts if there are several and it imports one
};
SharerKind sharerKindOf(const char* path) noexcept;

/// Returns whether one object may share memory.
bool mayShare(const LoadedObject& object, bool hasSeveralProcesses) noexcept;

} // namespace mneme::record
