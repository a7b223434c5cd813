// Room compiler: limits the size of the directory of compiled images. Needs no LLVM.
#pragma once

#include <cstdint>
#include <filesystem>

namespace mneme::compile {

/// Notes that an entry was read, in its modification time. Writes at most once a minute, because
/// every process of a large job reads the same entries.
void noteUse(const std::filesystem::path& entry) noexcept;

/// Call it after storing `addedBytes`. Deletes the least recently used entries until the rest has
/// at most `maxBytes` (0: no limit), and files that killed processes left behind at least an hour
/// ago. Touches only the cache's own files (cache_files.h). Reads the directory only if it may be
/// too large: at the process's first store, when the bytes added since the last check do not fit,
/// and every 64 stores. One process checks at a time; another one that does not get its turn soon
/// checks after its next store. Problems are not errors.
void limitCache(const std::filesystem::path& directory, uint64_t maxBytes,
                uint64_t addedBytes) noexcept;

} // namespace mneme::compile
