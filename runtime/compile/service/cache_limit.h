// Room compile: keeps the directory of compiled images at a bounded size. Holds no LLVM.
#pragma once

#include <cstdint>
#include <filesystem>

namespace mneme::compile {

/// An entry was read: its modification time says when. Written at most once a minute, since every
/// process of a large job reads the same entries.
void noteUse(const std::filesystem::path& entry) noexcept;

/// `addedBytes` were stored. Deletes the entries used least recently until the rest has at most
/// `maxBytes` (0: no limit), and files that killed processes left behind an hour ago. Touches
/// nothing that is not the cache's own (cache_files.h). Looks at the directory when this process
/// knows that it may be too large: at its first store, when what it added since it looked last does
/// not fit, and every 64 stores. One process looks at a time; who does not get the turn soon looks
/// after its next store. No problem is an error.
void limitCache(const std::filesystem::path& directory, uint64_t maxBytes,
                uint64_t addedBytes) noexcept;

} // namespace mneme::compile
