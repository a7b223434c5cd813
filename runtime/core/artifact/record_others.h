// Room core/artifact (internal): reads what other sessions have written about one kernel.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "runtime/core/artifact/recording.h"

namespace mneme::artifact {

struct OthersRecord {
  std::map<uint64_t, Instance> instances;
  uint64_t launches = 0;
  /// Why `<static hash>.json` must stay unchanged: it exists, it is not proven damaged, and it
  /// cannot be read now. Empty if a record with these instances may replace it.
  std::string whyKept;
};

/// Reads `<static hash>.json`. A file that is not a record is put aside under another name, with a
/// notice. A file that merely cannot be opened or read, or that a newer mneme wrote, is left alone.
/// The caller holds the directory's lock.
OthersRecord readOthers(const std::filesystem::path& directory, uint64_t staticHash);

/// Returns the files with instances that a session could not add to the record (unmergedName()).
std::vector<std::filesystem::path> unmergedRecords(const std::filesystem::path& directory,
                                                   uint64_t staticHash);

/// Adds the instances of these files to the known ones, and returns the files that were added.
std::vector<std::filesystem::path> mergeUnmerged(const std::filesystem::path& directory,
                                                 uint64_t staticHash, OthersRecord& others);

} // namespace mneme::artifact
