// Room compile: which files of a directory are the cache's own. Nothing else is ever deleted or
// moved: people point the cache at directories that hold other things. Holds no LLVM.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "runtime/base/hash.h"

namespace mneme::compile {

inline constexpr std::string_view kEntrySuffix = ".mnemec";
inline constexpr std::string_view kLockSuffix = ".lock";

inline constexpr char kEntryMagic[8] = {'M', 'N', 'E', 'M', 'E', 'C', 'C', '1'};

/// How an entry begins.
struct EntryHeader {
  char magic[8];
  uint64_t keyLow;
  uint64_t keyHigh;
  uint64_t checksumLow;
  uint64_t checksumHigh;
};

/// What a file would be in a cache, by its name alone.
enum class CacheFile {
  Foreign,   ///< no cache makes such a name
  Entry,     ///< `<key>.mnemec`, the key as toHex() writes it; or isNamedEntry()
  Temporary, ///< temporaryName() of an entry
  Lock,      ///< `<key>.lock`
};

CacheFile kindOf(std::string_view name) noexcept;

/// `<rank>-cache-jit-<number>.o` or `.so`, or without the rank what the ranks of a job share:
/// entries of code that the program itself marks have the names that the reference tool gives them.
bool isNamedEntry(std::string_view name) noexcept;

/// The same without the rank, in `name`.
std::string_view nameForAllRanks(std::string_view name) noexcept;

/// Whether a file whose name is of that kind also begins as the cache would have written it: an
/// entry with the key in its name, a lock with nothing or the note of a failure. Regular files
/// only, links are none; false when it cannot be read.
bool isOwn(const std::filesystem::path& file, CacheFile kind) noexcept;

/// Where in `directory`, which exists, the cache lives: there, or in its subdirectory
/// `mneme-cache` if that exists or others have put things there (as far as the first few thousand
/// names tell). Asked once per process and directory.
std::filesystem::path cachePlaceIn(const std::filesystem::path& directory);

/// Moves entries that earlier releases stored in `directory` among other things to `place`.
void adoptEntries(const std::filesystem::path& directory,
                  const std::filesystem::path& place) noexcept;

} // namespace mneme::compile
