#include "runtime/compiler/service/levels.h"

#include <atomic>

#include "runtime/compiler/service/cache_files.h"
#include "runtime/compiler/service/cache_limit.h"
#include "runtime/compiler/service/disk_cache.h"
#include "runtime/compiler/service/site_cache.h"
#include "runtime/core/base/log.h"
#include "runtime/core/base/own_descriptors.h"

namespace mneme::compile {
namespace {

/// Says it once per process: every kernel has the same problem.
void warnOnce(std::atomic<bool>& isSaid, const std::string& message) {
  if (!isSaid.exchange(true))
    notice(message);
}

std::filesystem::path usableDirectory(const std::filesystem::path& directory) {
  static std::atomic<bool> isSaid{false};
  if (directory.empty())
    return {};
  DirectoryCheck check = checkCacheDirectory(directory);
  if (!check.isUsable)
    warnOnce(isSaid, "the cache directory '" + directory.string() +
                         "' is not used, so kernels are compiled in every run: " + check.whyNot);
  return std::move(check.place);
}

} // namespace

void prepareCacheDirectory(const std::filesystem::path& directory) {
  runApart([&] { usableDirectory(directory); });
}

CacheLevels::CacheLevels(const std::vector<CacheLevel>& levels,
                         const std::filesystem::path& directory, uint64_t maxBytes,
                         const std::string& name)
    : directory_(usableDirectory(directory)), maxBytes_(maxBytes), name_(name) {
  if (name.empty() && !directory_.empty())
    levels_.push_back({0, CacheLevel{}});
  for (unsigned number = 0; number < levels.size(); ++number) {
    const CacheLevel::Kind kind = levels[number].kind;
    if (kind == CacheLevel::Kind::Site || (!name.empty() && !directory_.empty()))
      levels_.push_back({number, levels[number]});
  }
}

std::optional<Result> CacheLevels::load(const Hash128& key) const {
  for (size_t index = 0; index < levels_.size(); ++index)
    if (std::optional<Result> result = loadFrom(levels_[index].level, key)) {
      result->cacheLevel = levels_[index].number;
      for (size_t faster = 0; faster < index; ++faster)
        storeIn(levels_[faster].level, key, *result);
      return result;
    }
  return std::nullopt;
}

void CacheLevels::store(const Hash128& key, const Result& result) const {
  for (const Numbered& level : levels_)
    storeIn(level.level, key, result);
}

std::optional<Result> CacheLevels::loadFrom(const CacheLevel& level, const Hash128& key) const {
  switch (level.kind) {
  case CacheLevel::Kind::Storage:
    return loadCached(directory_, key, name_);
  case CacheLevel::Kind::Shared: {
    const std::string name(nameForAllRanks(name_));
    std::optional<Result> result = unpackEntry(level.shared->read(name), key);
    if (result)
      noteUse(directory_ / name);
    return result;
  }
  case CacheLevel::Kind::Site:
    return loadFromSite(level.directories, key);
  }
  return std::nullopt;
}

void CacheLevels::storeIn(const CacheLevel& level, const Hash128& key, const Result& result) const {
  static std::atomic<bool> isSaid{false};
  if (level.kind == CacheLevel::Kind::Shared) {
    const std::vector<std::byte> entry = packEntry(key, result);
    level.shared->publish(std::string(nameForAllRanks(name_)), entry);
    limitCache(directory_, maxBytes_, entry.size());
  } else if (level.kind == CacheLevel::Kind::Storage) {
    const std::string problem = storeCached(directory_, key, result, maxBytes_, name_);
    if (!problem.empty())
      warnOnce(isSaid, "a compiled kernel is not kept for the next run: " + problem);
  }
}

} // namespace mneme::compile
