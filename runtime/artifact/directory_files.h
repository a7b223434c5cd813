// Room artifact (internal): which files of a directory belong to which record.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "runtime/artifact/recording.h"

namespace mneme::artifact {

/// Names of the files record `json` needs, itself included: its modules, its snapshots, and the
/// files these need. One pass over the tables of each snapshot (layers.h).
/// \throws Error{NotFound, ArtifactCorrupt}, Error{InvalidArgument} if some lie elsewhere.
std::set<std::string> filesOfRecord(const std::filesystem::path& json);

/// Names of all files that some record of the directory needs. \throws as filesOfRecord().
std::set<std::string> filesOfAllRecords(const std::filesystem::path& directory);

/// Names of the snapshots of a record's instances.
std::set<std::string> snapshotsOf(const KernelRecord& record);

/// Whether a file is a record, damaged or not: by its name, and what it says or lies beside it.
/// Others name their files `2024.json` too.
bool isRecord(const std::filesystem::path& json) noexcept;

/// Names of the modules and snapshots of a record that may be unreadable, judging by their names.
std::set<std::string> companionsOf(const std::filesystem::path& json);

/// Names of the snapshot files of one kernel, judging by their names only.
std::vector<std::string> snapshotsByName(const std::filesystem::path& directory,
                                         uint64_t staticHash);

} // namespace mneme::artifact
