// Room artifact (internal): the names of files in a recording directory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace mneme::artifact {

std::string recordName(uint64_t staticHash);
/// Where a record that cannot be read is put aside.
std::string damagedName(uint64_t staticHash);
/// `index` 0: "RecordedIR_<static>.bc"; n: "RecordedIR_<static>.<n>.bc".
std::string moduleName(uint64_t staticHash, size_t index);
/// `generation` 0 has no suffix; others are used where the name is taken by a file still in use.
std::string snapshotName(bool isEpilogue, uint64_t staticHash, uint64_t dynamicHash,
                         unsigned generation);

/// A name without directory part: not empty, no '/', no NUL, not "." or "..".
bool isPlainFileName(const std::string& name) noexcept;
/// Replaces what a terminal should not see.
std::string printable(const std::string& text);

/// Whether a name ends as those of mneme::temporaryName() do.
bool isTemporaryName(const std::string& name) noexcept;
/// Whether `name` can be a `<static hash>.json`: decimal digits and ".json".
bool isRecordName(const std::string& name) noexcept;

} // namespace mneme::artifact
