// Room core/artifact (internal): opening snapshot files, shared by the reader and the writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "runtime/core/artifact/snapshot_table.h"
#include "runtime/core/base/file.h"

namespace mneme::artifact {

/// A snapshot file whose header was checked.
struct SnapshotFile {
  UniqueFd descriptor;
  SnapshotHeader header{};
};

/// \throws Error{NotFound, IoFailed, ArtifactCorrupt} naming the file.
SnapshotFile openSnapshotFile(const std::filesystem::path& path);

/// Reads and checks the table. \throws as openSnapshotFile().
SnapshotTable readTable(const SnapshotFile& file, const std::filesystem::path& path);

/// Reads exactly out.size() bytes. Returns false on an error or at the end of the file.
bool readAt(int descriptor, uint64_t offset, std::span<std::byte> out) noexcept;

} // namespace mneme::artifact
