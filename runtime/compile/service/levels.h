// Room compile: the places where compiled code is looked for, fastest first. Holds no LLVM.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/hash.h"
#include "runtime/compile/service/client.h"

namespace mneme::compile {

/// Entries that the processes of one job have in common. Thread-safe; nothing throws.
class SharedEntries {
public:
  virtual ~SharedEntries() = default;
  /// The content of an entry's file; empty if there is none.
  virtual std::vector<std::byte> read(const std::string& name) noexcept = 0;
  /// Whoever reads after this returned finds the entry, whole.
  virtual void publish(const std::string& name, std::span<const std::byte> entry) noexcept = 0;
};

/// One of these places.
struct CacheLevel {
  enum class Kind {
    Storage, ///< the cache directory
    Shared,  ///< `shared`, for entries with names (Request::cacheName)
    Site,    ///< directories that somebody has filled for many; never written to
  };
  Kind kind = Kind::Storage;
  SharedEntries* shared = nullptr;
  std::vector<std::filesystem::path> directories = {}; ///< of Site
};

/// Makes the cache directory before anything is kept there; said once if it cannot be used. Empty:
/// there is none.
void prepareCacheDirectory(const std::filesystem::path& directory);

/// The levels as they are for one request.
class CacheLevels {
public:
  /// \param directory  as ServiceOptions::cacheDirectory; said once if it cannot be used
  /// \param name       Request::cacheName; what has none is kept in Storage first, and never Shared
  CacheLevels(const std::vector<CacheLevel>& levels, const std::filesystem::path& directory,
              uint64_t maxBytes, const std::string& name);

  bool isEmpty() const noexcept { return levels_.empty(); }
  /// The cache directory, or its own one in it; empty if there is none.
  const std::filesystem::path& directory() const noexcept { return directory_; }
  /// What the fastest level has, which those before it then have too.
  std::optional<Result> load(const Hash128& key) const;
  /// Stores in all levels. Problems are said once.
  void store(const Hash128& key, const Result& result) const;

private:
  struct Numbered {
    unsigned number; ///< among those given
    CacheLevel level;
  };
  std::optional<Result> loadFrom(const CacheLevel& level, const Hash128& key) const;
  void storeIn(const CacheLevel& level, const Hash128& key, const Result& result) const;

  std::vector<Numbered> levels_; ///< that can be used
  std::filesystem::path directory_;
  uint64_t maxBytes_;
  std::string name_;
};

} // namespace mneme::compile
