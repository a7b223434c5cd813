// Room core/artifact (internal): finds the files of a directory that belong to a record.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "runtime/core/artifact/recording.h"

namespace mneme::artifact {

/// Returns the names of the files that record `json` needs, itself included: its modules, its
/// snapshots, and the files these need. Reads the tables of each snapshot once (layers.h).
/// \throws Error{NotFound, ArtifactCorrupt}, Error{InvalidArgument} if some lie elsewhere.
std::set<std::string> filesOfRecord(const std::filesystem::path& json);

/// Returns the names of all files that any record of the directory needs. \throws as
/// filesOfRecord().
std::set<std::string> filesOfAllRecords(const std::filesystem::path& directory);

/// Returns the names of the snapshots of a record's instances.
std::set<std::string> snapshotsOf(const KernelRecord& record);

/// Whether a file is a record, damaged or not, judging by its name and by its content or the files
/// next to it: other tools also name files `2024.json`.
bool isRecord(const std::filesystem::path& json) noexcept;

/// Returns the names of the modules and snapshots of a record, judging by names only: the record
/// may be unreadable.
std::set<std::string> companionsOf(const std::filesystem::path& json);

/// Returns the names of the snapshot files of one kernel, judging by their names only.
std::vector<std::string> snapshotsByName(const std::filesystem::path& directory,
                                         uint64_t staticHash);

} // namespace mneme::artifact
