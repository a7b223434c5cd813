// Room core/base: files read whole and published with one rename.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "runtime/core/base/unique_fd.h"

namespace mneme {

/// Opens a regular file, or a link to one, for reading. Refuses everything else without opening it:
/// a pipe without a writer would block the program, and opening a device can have any effect.
/// \throws Error{NotFound} or Error{IoFailed} naming the path.
UniqueFd openRegularFile(const std::filesystem::path& path);

/// Reads what openRegularFile() opens. \throws as it does, and Error{OutOfRange} if there are more
/// than `maxBytes`.
std::vector<std::byte> readFile(const std::filesystem::path& path, uint64_t maxBytes = UINT64_MAX);
std::string readTextFile(const std::filesystem::path& path, uint64_t maxBytes = UINT64_MAX);

/// Returns a name next to `path` that no process uses, on this host or another that shares the
/// directory: `path`, ".tmp-", then numbers with '-' between them.
std::filesystem::path temporaryName(const std::filesystem::path& path);

enum class Durability {
  Synced,
  /// Does not wait for the disk: the file may be damaged after a crash of the machine. For files
  /// that carry a checksum and can be made again.
  UntilPowerFails,
};

/// Writes a temporary file beside `path`, syncs it and renames it over `path`: readers see the old
/// content or the new, never a part. \throws Error{IoFailed}; the temporary file is then removed.
void writeFileAtomically(const std::filesystem::path& path, std::span<const std::byte> bytes,
                         Durability durability = Durability::Synced);
void writeFileAtomically(const std::filesystem::path& path, const std::string& text);

/// Writes all bytes or throws Error{IoFailed} naming `path`. A write that fails raises no signal.
void writeAll(int descriptor, std::span<const std::byte> bytes, const std::filesystem::path& path);

} // namespace mneme
