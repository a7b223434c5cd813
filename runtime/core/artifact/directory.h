// Room core/artifact: operations on whole recordings: list, copy, move, clean.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/core/artifact/recording.h"

namespace mneme::artifact {

struct DirectoryListing {
  std::vector<std::filesystem::path> records; ///< `<static hash>.json` files
  std::vector<std::filesystem::path>
      strangers; ///< those of `records` that nothing shows to be a record
  std::vector<std::filesystem::path> unfinished; ///< temporary files of killed or running sessions
  std::vector<std::string> notes;                ///< losses and killed sessions, one sentence each
};
/// \throws Error{NotFound} if it is not a directory.
DirectoryListing listDirectory(const std::filesystem::path& directory);

/// Every file a record needs, itself first: modules, snapshots and, transitively, the files whose
/// chunks they refer to. Absolute paths.
std::vector<std::filesystem::path> filesOf(const std::filesystem::path& record);

/// Copies or moves records with everything they refer to into `destination` (created if missing).
/// All files are copied to temporary names and checked first, then renamed, JSON last; a failure
/// leaves the destination as it was. Move deletes sources only after every copy is published, and
/// keeps files that other records in the source directory still refer to.
void copyRecords(const std::vector<std::filesystem::path>& records,
                 const std::filesystem::path& destination);
void moveRecords(const std::vector<std::filesystem::path>& records,
                 const std::filesystem::path& destination);
/// Deletes records and the files that only they refer to, if their names are ones that recorders
/// use. Returns the deleted files.
std::vector<std::filesystem::path> cleanRecords(const std::vector<std::filesystem::path>& records);

} // namespace mneme::artifact
