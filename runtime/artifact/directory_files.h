// Room artifact (internal): which files of a directory belong to which record.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace mneme::artifact {

/// Names of the files record `json` needs, itself included, transitively through references.
/// \throws Error{NotFound, ArtifactCorrupt}
std::set<std::string> filesOfRecord(const std::filesystem::path& json);

/// Names of all files that some record of the directory needs. \throws as filesOfRecord().
std::set<std::string> filesOfAllRecords(const std::filesystem::path& directory);

/// Names of the snapshot files of one kernel, judging by their names only.
std::vector<std::string> snapshotsByName(const std::filesystem::path& directory,
                                         uint64_t staticHash);

} // namespace mneme::artifact
