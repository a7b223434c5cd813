// Room artifact (internal): what other sessions have written about one kernel.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "runtime/artifact/recording.h"

namespace mneme::artifact {

struct OthersRecord {
  std::map<uint64_t, Instance> instances;
  uint64_t launches = 0;
  /// Why `<static hash>.json` must stay as it is: it is there, nothing proves it damaged, and it
  /// cannot be read now. Empty when it may be replaced by a record with these instances.
  std::string whyKept;
};

/// Reads `<static hash>.json`. Bytes that are no record are put aside under a name of their own
/// (said in a notice); a file that only cannot be opened or read, or is a newer mneme's, is left
/// alone. The caller holds the directory's lock.
OthersRecord readOthers(const std::filesystem::path& directory, uint64_t staticHash);

/// Files with instances that a session could not add to the record (unmergedName()).
std::vector<std::filesystem::path> unmergedRecords(const std::filesystem::path& directory,
                                                   uint64_t staticHash);

/// Adds their instances to those that are known, and returns the files that are now in there.
std::vector<std::filesystem::path> mergeUnmerged(const std::filesystem::path& directory,
                                                 uint64_t staticHash, OthersRecord& others);

} // namespace mneme::artifact
