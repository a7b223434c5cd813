// Room core/artifact (internal): the names of files in a recording directory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace mneme::artifact {

std::string recordName(uint64_t staticHash);
/// Name for a record that is proven damaged and put aside.
std::string damagedName(uint64_t staticHash);
/// Name of a record with instances that could not be added to `<static hash>.json` because that
/// could not be read: "<static>.unmerged-<number>.json".
std::string unmergedName(uint64_t staticHash, unsigned number);
/// `index` 0: "RecordedIR_<static>.bc"; n: "RecordedIR_<static>.<n>.bc". IR as text has ".ll".
std::string moduleName(uint64_t staticHash, size_t index, bool isText = false);
/// Whether device code without IR can have this form: "cubin", "ptx", "fatbin", "cpu".
bool isCodeForm(std::string_view form) noexcept;
/// "RecordedCode_<static>.<form>"
std::string codeName(uint64_t staticHash, const std::string& form);
/// `generation` 0 has no suffix. Others are used while a file still in use has the name.
std::string snapshotName(bool isEpilogue, uint64_t staticHash, uint64_t dynamicHash,
                         unsigned generation);

/// Whether it is a name without directory part: not empty, no '/', no NUL, not "." or "..".
bool isPlainFileName(const std::string& name) noexcept;
/// Replaces characters that a terminal must not receive, and cuts the text after `mostBytes`: the
/// file may come from anybody.
std::string printable(const std::string& text, size_t mostBytes = 200);

/// Whether `name` can be a `<static hash>.json`: decimal digits and ".json".
bool isRecordName(const std::string& name) noexcept;
bool isUnmergedName(const std::string& name) noexcept;
/// Whether moduleName() or codeName(), or snapshotName(), makes such a name; for `staticHash` only
/// if given.
bool isModuleName(const std::string& name, std::optional<uint64_t> staticHash = {}) noexcept;
bool isSnapshotName(const std::string& name, std::optional<uint64_t> staticHash = {}) noexcept;
/// Not ".json": scripts take every such file for a record, or search all of them for a kernel.
inline constexpr const char* kSessionFileEnd = ".session";
/// Whether `name` can be that of a session file: "unfinished-<pid>.session" and longer. Those of
/// earlier versions end in ".json".
bool isSessionFileName(const std::string& name) noexcept;
/// The directory where copies wait for one another.
inline constexpr const char* kStagingName = "incoming";
/// Whether mneme::temporaryName() can have made this name from one of ours: users' files may have
/// similar names.
bool isTemporaryName(const std::string& name) noexcept;

} // namespace mneme::artifact
