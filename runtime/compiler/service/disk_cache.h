// Room compiler: compiled images kept on disk, found by content.
//
// An entry is the file `<key>.mnemec`: magic "MNEMECC1", the key, a checksum, then four strings
// (image, IR, assembly, statistics), each a 64-bit length and its bytes. The key hashes everything
// the image depends on, so entries never become stale; deleting the directory is always safe.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "runtime/compiler/service/request.h"
#include "runtime/core/base/hash.h"

namespace mneme::compile {

/// Returns MNEME_CACHE_DIR, else $XDG_CACHE_HOME/mneme, else ~/.cache/mneme, made if missing (mode
/// 0700), or its subdirectory `mneme-cache` if it contains other things. Returns nothing if there
/// is none, it cannot be made, it belongs to another user or others can write to it: they could run
/// code here through the cache.
std::optional<std::filesystem::path> cacheDirectory();

/// Returns a hash of everything the outputs depend on: each field of the request, the library's
/// identity, and the host's for CPU targets or the assembler's for others. \throws as
/// findAssembler()
Hash128 cacheKey(const Request& request, const std::string& libraryIdentity);

struct DirectoryCheck {
  bool isUsable = false;
  std::filesystem::path place; ///< the directory or its subdirectory, see cachePlaceIn()
  std::string whyNot;          ///< "it cannot be made: ..."; empty if usable
};

/// Makes the directory if it is missing (mode 0700), and checks whether it may contain a cache, as
/// above.
DirectoryCheck checkCacheDirectory(const std::filesystem::path& directory);

inline constexpr uint64_t kMaxEntryBytes = uint64_t{1}
                                           << 30; // images of large kernels have some MB

/// Makes the content of an entry's file, and reads it back; nothing if it is damaged or has another
/// key.
std::vector<std::byte> packEntry(const Hash128& key, const Result& result);
std::optional<Result> unpackEntry(std::span<const std::byte> entry, const Hash128& key);

/// `name` is the entry's file name if it is not made from the key (isNamedEntry()).
std::filesystem::path entryPath(const std::filesystem::path& directory, const Hash128& key,
                                const std::string& name = {});

/// Returns the stored result, which counts as used now; nothing if there is none or it is damaged.
/// Never throws for file problems.
std::optional<Result> loadCached(const std::filesystem::path& directory, const Hash128& key,
                                 const std::string& name = {});

/// Stores a result with one rename, then deletes the least recently used entries while there are
/// more than `maxBytes` (0: no limit). Returns "", or a message about a full disk or a refused
/// write, which leaves nothing behind.
std::string storeCached(const std::filesystem::path& directory, const Hash128& key,
                        const Result& result, uint64_t maxBytes, const std::string& name = {});

/// Returns MNEME_CACHE_BYTES (a number, optionally followed by K, M, G or T; 0: no limit), else 10
/// GiB.
uint64_t cacheBytesLimit();

} // namespace mneme::compile
