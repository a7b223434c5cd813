// Code is looked for in several places, one after the other.
#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

#include "kernels.h"
#include "runtime/compiler/service/disk_cache.h"
#include "runtime/compiler/service/levels.h"
#include "runtime/compiler/service/site_cache.h"

using namespace mneme;
using namespace mneme::test;
using compile::CacheLevel;
using compile::CacheLevels;
namespace fs = std::filesystem;

namespace {

constexpr Hash128 kKey{1, 2};
const std::string kName = "3-cache-jit-17.o";

compile::Result resultOf(const std::string& text) {
  compile::Result result;
  result.image.resize(text.size());
  memcpy(result.image.data(), text.data(), text.size());
  return result;
}

std::string textOf(const std::optional<compile::Result>& result) {
  return result ? std::string(reinterpret_cast<const char*>(result->image.data()),
                              result->image.size())
                : "nothing";
}

/// What a job shares, in memory.
struct Shelf : compile::SharedEntries {
  std::vector<std::byte> read(const std::string& name) noexcept override { return entries[name]; }
  void publish(const std::string& name, std::span<const std::byte> entry) noexcept override {
    entries[name].assign(entry.begin(), entry.end());
  }
  std::map<std::string, std::vector<std::byte>> entries;
};

std::vector<CacheLevel> storageShelfAndSite(Shelf& shelf, const fs::path& site) {
  return {{CacheLevel::Kind::Storage, nullptr, {}},
          {CacheLevel::Kind::Shared, &shelf, {}},
          {CacheLevel::Kind::Site, nullptr, {site}}};
}

void putInSite(const fs::path& site, const std::string& text) {
  REQUIRE(compile::storeCached(site, kKey, resultOf(text), 0).empty());
}

} // namespace

TEST_CASE("what a slow level has, the faster ones have afterwards") {
  const TemporaryDirectory own, site;
  Shelf shelf;
  const CacheLevels levels(storageShelfAndSite(shelf, site.path()), own.path(), 0, kName);
  CHECK_FALSE(levels.load(kKey));
  putInSite(site.path(), "code");
  for (const unsigned level : {2u, 0u}) {
    const auto found = levels.load(kKey);
    CHECK(textOf(found) == "code");
    CHECK(found->isFromCache);
    CHECK(found->cacheLevel == level);
  }
  CHECK(textOf(compile::loadCached(own.path(), kKey, kName)) == "code");
  REQUIRE(fs::remove(own.path() / kName));
  CHECK(levels.load(kKey)->cacheLevel == 1);
  CHECK(shelf.entries.contains("cache-jit-17.o"));
}

TEST_CASE("what was compiled goes to every level but the site's") {
  const TemporaryDirectory own, site;
  Shelf shelf;
  const CacheLevels levels(storageShelfAndSite(shelf, site.path()), own.path(), 0, kName);
  levels.store(kKey, resultOf("new"));
  CHECK(fs::exists(own.path() / kName));
  CHECK(shelf.entries.size() == 1);
  CHECK(fs::is_empty(site.path()));
}

TEST_CASE("entries without names are stored first, whatever the chain, and not shared") {
  const TemporaryDirectory own, site;
  Shelf shelf;
  const CacheLevels levels(
      {{CacheLevel::Kind::Shared, &shelf, {}}, {CacheLevel::Kind::Site, nullptr, {site.path()}}},
      own.path(), 0, "");
  putInSite(site.path(), "code");
  CHECK(textOf(levels.load(kKey)) == "code");
  CHECK(textOf(compile::loadCached(own.path(), kKey)) == "code");
  CHECK(shelf.entries.empty());
}

TEST_CASE("a site serves where no directory can be used") {
  const TemporaryDirectory site;
  putInSite(site.path(), "code");
  Shelf shelf;
  const CacheLevels levels(storageShelfAndSite(shelf, site.path()), "", 0, kName);
  CHECK(levels.directory().empty());
  CHECK(textOf(levels.load(kKey)) == "code");
  CHECK(CacheLevels({CacheLevel{}}, "", 0, kName).isEmpty());
}

TEST_CASE("of several sites the first that has a sound entry serves") {
  const TemporaryDirectory damaged, good, other;
  putInSite(damaged.path(), "broken");
  std::ofstream(compile::entryPath(damaged.path(), kKey), std::ios::app) << "more";
  putInSite(good.path(), "good");
  putInSite(other.path(), "other");
  CHECK(textOf(compile::loadFromSite(
            {damaged.path() / "none", damaged.path(), good.path(), other.path()}, kKey)) == "good");
  CHECK_FALSE(compile::loadFromSite({good.path()}, Hash128{5, 6}));
}

TEST_CASE("a site that others can write to is not trusted, neither are files") {
  const TemporaryDirectory site;
  putInSite(site.path(), "code");
  const fs::path entry = compile::entryPath(site.path(), kKey);
  CHECK(compile::loadFromSite({site.path()}, kKey));
  REQUIRE(chmod(entry.c_str(), 0664) == 0);
  CHECK_FALSE(compile::loadFromSite({site.path()}, kKey));
  REQUIRE(chmod(entry.c_str(), 0644) == 0);
  REQUIRE(chmod(site.path().c_str(), 0777) == 0);
  CHECK_FALSE(compile::loadFromSite({site.path()}, kKey));
  REQUIRE(chmod(site.path().c_str(), 0755) == 0);
  CHECK(compile::loadFromSite({site.path()}, kKey));
}
