// Room artifact (internal): the names of files in a recording directory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace mneme::artifact {

std::string recordName(uint64_t staticHash);
/// Where a record that is proven damaged is put aside.
std::string damagedName(uint64_t staticHash);
/// A record of instances that could not be added to `<static hash>.json`, because it could not be
/// read: "<static>.unmerged-<number>.json".
std::string unmergedName(uint64_t staticHash, unsigned number);
/// `index` 0: "RecordedIR_<static>.bc"; n: "RecordedIR_<static>.<n>.bc".
std::string moduleName(uint64_t staticHash, size_t index);
/// `generation` 0 has no suffix; others are used where the name is taken by a file still in use.
std::string snapshotName(bool isEpilogue, uint64_t staticHash, uint64_t dynamicHash,
                         unsigned generation);

/// A name without directory part: not empty, no '/', no NUL, not "." or "..".
bool isPlainFileName(const std::string& name) noexcept;
/// Replaces what a terminal should not see.
std::string printable(const std::string& text);

/// Whether `name` can be a `<static hash>.json`: decimal digits and ".json".
bool isRecordName(const std::string& name) noexcept;
bool isUnmergedName(const std::string& name) noexcept;
/// Whether moduleName(), or snapshotName(), makes such a name; for `staticHash` only if given.
bool isModuleName(const std::string& name, std::optional<uint64_t> staticHash = {}) noexcept;
bool isSnapshotName(const std::string& name, std::optional<uint64_t> staticHash = {}) noexcept;
/// No ".json": scripts take every such file for a record, or look into all of them for a kernel.
inline constexpr const char* kSessionFileEnd = ".session";
/// Whether `name` can be that of a session's own file: "unfinished-<pid>.session" and longer;
/// earlier ones end in ".json".
bool isSessionFileName(const std::string& name) noexcept;
/// Where copies wait for one another.
inline constexpr const char* kStagingName = "incoming";
/// Whether mneme::temporaryName() makes such a name of one of these: people name files alike.
bool isTemporaryName(const std::string& name) noexcept;

} // namespace mneme::artifact
