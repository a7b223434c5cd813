// Room compiler: recognises the cache's own files in a directory. Nothing else is ever deleted or
// moved, because users may choose directories that contain other things. Needs no LLVM.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "runtime/core/base/hash.h"

namespace mneme::compile {

inline constexpr std::string_view kEntrySuffix = ".mnemec";
inline constexpr std::string_view kLockSuffix = ".lock";

inline constexpr char kEntryMagic[8] = {'M', 'N', 'E', 'M', 'E', 'C', 'C', '1'};

/// The header of an entry.
struct EntryHeader {
  char magic[8];
  uint64_t keyLow;
  uint64_t keyHigh;
  uint64_t checksumLow;
  uint64_t checksumHigh;
};

/// The kind of a file in a cache, judging by its name alone.
enum class CacheFile {
  Foreign,   ///< no cache makes such a name
  Entry,     ///< `<key>.mnemec`, the key as toHex() writes it; or isNamedEntry()
  Temporary, ///< temporaryName() of an entry
  Lock,      ///< `<key>.lock`
};

CacheFile kindOf(std::string_view name) noexcept;

/// Whether it is `<rank>-cache-jit-<number>.o` or `.so`, or the same without the rank for entries
/// that the ranks of a job share. Entries of marked code have these names of the reference tool.
bool isNamedEntry(std::string_view name) noexcept;

/// Returns the part of `name` without the rank.
std::string_view nameForAllRanks(std::string_view name) noexcept;

/// Whether a file of that kind also begins as the cache would have written it: an entry with the
/// key in its name, a lock empty or with the note of a failure. Only regular files count, not
/// links. Returns false if it cannot be read.
bool isOwn(const std::filesystem::path& file, CacheFile kind) noexcept;

/// Returns the place of the cache in `directory`, which must exist: the directory itself or, if it
/// contains other things (judging by the first few thousand names) or already has one, its
/// subdirectory `mneme-cache`. Determined once per process and directory.
std::filesystem::path cachePlaceIn(const std::filesystem::path& directory);

/// Moves entries to `place` that earlier releases stored among other things in `directory`.
void adoptEntries(const std::filesystem::path& directory,
                  const std::filesystem::path& place) noexcept;

} // namespace mneme::compile
