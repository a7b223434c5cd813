// Room compiler: the places that are searched for compiled code, fastest first. Needs no LLVM.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/compiler/service/client.h"
#include "runtime/core/base/hash.h"

namespace mneme::compile {

/// Entries that the processes of one job share. Thread-safe; nothing throws.
class SharedEntries {
public:
  virtual ~SharedEntries() = default;
  /// Returns the content of an entry's file; empty if there is none.
  virtual std::vector<std::byte> read(const std::string& name) noexcept = 0;
  /// Every read that starts after this returns finds the complete entry.
  virtual void publish(const std::string& name, std::span<const std::byte> entry) noexcept = 0;
};

/// One place that is searched.
struct CacheLevel {
  enum class Kind {
    Storage, ///< the cache directory
    Shared,  ///< `shared`, for entries with names (Request::cacheName)
    Site,    ///< directories that a site has filled for its users; read only
  };
  Kind kind = Kind::Storage;
  SharedEntries* shared = nullptr;
  std::vector<std::filesystem::path> directories = {}; ///< of Site
};

/// Makes the cache directory before anything is stored there; reports once if it cannot be used. An
/// empty path means none.
void prepareCacheDirectory(const std::filesystem::path& directory);

/// The levels for one request.
class CacheLevels {
public:
  /// \param directory as ServiceOptions::cacheDirectory; reported once if it cannot be used
  /// \param name       Request::cacheName; what has none is kept in Storage first, and never Shared
  CacheLevels(const std::vector<CacheLevel>& levels, const std::filesystem::path& directory,
              uint64_t maxBytes, const std::string& name);

  bool isEmpty() const noexcept { return levels_.empty(); }
  /// The cache directory or its subdirectory; empty if there is none.
  const std::filesystem::path& directory() const noexcept { return directory_; }
  /// Returns the result from the fastest level that has it, and stores it in the levels before.
  std::optional<Result> load(const Hash128& key) const;
  /// Stores in all levels. Problems are reported once.
  void store(const Hash128& key, const Result& result) const;

private:
  struct Numbered {
    unsigned number; ///< index among the given levels
    CacheLevel level;
  };
  std::optional<Result> loadFrom(const CacheLevel& level, const Hash128& key) const;
  void storeIn(const CacheLevel& level, const Hash128& key, const Result& result) const;

  std::vector<Numbered> levels_; ///< the usable levels
  std::filesystem::path directory_;
  uint64_t maxBytes_;
  std::string name_;
};

} // namespace mneme::compile
