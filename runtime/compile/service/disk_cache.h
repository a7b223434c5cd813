// Room compile: compiled images kept on disk, found by content.
//
// An entry is the file `<key>.mnemec`: magic "MNEMECC1", the key, a checksum, then four strings
// (image, IR, assembly, statistics), each a 64-bit length and its bytes. The key hashes everything
// the image depends on, so entries never become stale; deleting the directory is always safe.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "runtime/base/hash.h"
#include "runtime/compile/service/client.h"

namespace mneme::compile {

/// MNEME_CACHE_DIR, else $XDG_CACHE_HOME/mneme, else ~/.cache/mneme; made if missing (mode 0700);
/// its subdirectory `mneme-cache` if it holds other things. Nothing when there is none, it cannot
/// be made, it belongs to another user or others can write to it: a cache others can fill would let
/// them run code here.
std::optional<std::filesystem::path> cacheDirectory();

/// Everything the outputs depend on: each field of the request, the library's identity, for CPU
/// targets the host's and for others the assembler's. \throws as findAssembler()
Hash128 cacheKey(const Request& request, const std::string& libraryIdentity);

struct DirectoryCheck {
  bool isUsable = false;
  std::filesystem::path place; ///< the directory, or its own one in it: see cachePlaceIn()
  std::string whyNot;          ///< "it cannot be made: ..."; empty when usable
};

/// Makes the directory if it is missing (mode 0700) and says whether it may hold a cache, as above.
DirectoryCheck checkCacheDirectory(const std::filesystem::path& directory);

inline constexpr uint64_t kMaxEntryBytes = uint64_t{1}
                                           << 30; // images of large kernels have some MB

/// What an entry's file holds, and what is in it; nothing if it is damaged or has another key.
std::vector<std::byte> packEntry(const Hash128& key, const Result& result);
std::optional<Result> unpackEntry(std::span<const std::byte> entry, const Hash128& key);

/// `name` is the entry's file name, where it is not made of the key (isNamedEntry()).
std::filesystem::path entryPath(const std::filesystem::path& directory, const Hash128& key,
                                const std::string& name = {});

/// The stored result, which counts as used now; nothing when there is none or it is damaged. Never
/// throws for file problems.
std::optional<Result> loadCached(const std::filesystem::path& directory, const Hash128& key,
                                 const std::string& name = {});

/// Stores a result with one rename, then deletes what was not used for longest while there are more
/// than `maxBytes` (0: no limit). Returns what went wrong: "", or a sentence about a full disk or a
/// refused write, which leaves nothing behind.
std::string storeCached(const std::filesystem::path& directory, const Hash128& key,
                        const Result& result, uint64_t maxBytes, const std::string& name = {});

/// MNEME_CACHE_BYTES (a number, or one with K, M, G or T behind it; 0: no limit), else 10 GiB.
uint64_t cacheBytesLimit();

} // namespace mneme::compile
