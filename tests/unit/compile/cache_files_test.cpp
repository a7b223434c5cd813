// A cache that is pointed at a directory with other things in it.
#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels.h"
#include "runtime/compiler/service/cache_files.h"
#include "runtime/compiler/service/disk_cache.h"
#include "runtime/compiler/service/service.h"

using namespace mneme;
using namespace mneme::test;
using compile::CacheFile;
using compile::kindOf;
namespace fs = std::filesystem;

namespace {

const std::string kKey = "0123456789abcdef0123456789abcdef";

compile::Result resultOf(size_t bytes) {
  compile::Result result;
  result.image.resize(bytes);
  return result;
}

void makeOld(const fs::path& file) {
  const timespec times[2] = {{1000, 0}, {1000, 0}};
  REQUIRE(utimensat(AT_FDCWD, file.c_str(), times, AT_SYMLINK_NOFOLLOW) == 0);
}

/// Files people keep, some of which look like ours at a glance.
std::map<std::string, std::string> leavePeoplesFiles(const fs::path& directory) {
  const std::map<std::string, std::string> files = {{"uv.lock", "version = 1\n"},
                                                    {"Cargo.lock", ""},
                                                    {"a.lock", "8 it failed"},
                                                    {"notes.mnemec", "mine"},
                                                    {"a.mnemec.tmp-1-0", ""},
                                                    {kKey + ".lock", "held by pid 12"},
                                                    {kKey + ".mnemec", "a lookalike"},
                                                    {kKey + ".mnemec.tmp-1-2-3", "my own"},
                                                    {kKey + ".mnemec.tmp-old", ""},
                                                    {kKey + "0.lock", ""},
                                                    {"0123456789ABCDEF0123456789ABCDEF.lock", ""}};
  for (const auto& [name, content] : files) {
    std::ofstream(directory / name) << content;
    makeOld(directory / name);
  }
  return files;
}

std::string contentOf(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

} // namespace

TEST_CASE("only names the cache makes are the cache's") {
  CHECK(kindOf(kKey + ".mnemec") == CacheFile::Entry);
  CHECK(kindOf(kKey + ".lock") == CacheFile::Lock);
  CHECK(kindOf(kKey + ".mnemec.tmp-12-345-0") == CacheFile::Temporary);
  CHECK(kindOf(kKey + ".mnemec.tmp-1-0") == CacheFile::Temporary);
  for (const std::string& name :
       {std::string("uv.lock"), std::string(".lock"), std::string(), kKey, kKey + ".mnemec2",
        kKey + ".mnemec.tmp-", kKey + ".mnemec.tmp--1", kKey + ".mnemec.tmp-1-x",
        "x" + kKey + ".lock", kKey.substr(1) + ".lock", kKey + ".lock.lock", kKey + "\n.lock"})
    CHECK(kindOf(name) == CacheFile::Foreign);
}

TEST_CASE("entries have the reference tool's names, with a rank or without") {
  for (const char* name : {"0-cache-jit-17.o", "12-cache-jit-1.so", "cache-jit-17.o"}) {
    CHECK(kindOf(name) == CacheFile::Entry);
    CHECK(kindOf(name + std::string(".tmp-1-2-0")) == CacheFile::Temporary);
  }
  CHECK(compile::nameForAllRanks("12-cache-jit-1.so") == "cache-jit-1.so");
  CHECK(compile::nameForAllRanks("cache-jit-1.so") == "cache-jit-1.so");
  for (const char* name : {"-cache-jit-17.o", "0cache-jit-17.o", "a-cache-jit-17.o", "cache-jit-.o",
                           "cache-jit-17.a", "my-cache-jit-17.o", "0-cache-jit-1x.o"})
    CHECK(kindOf(name) == CacheFile::Foreign);
}

TEST_CASE("nothing of other people is deleted, however full the cache") {
  const TemporaryDirectory directory;
  const auto files = leavePeoplesFiles(directory.path());
  for (uint64_t number = 0; number < 130; ++number) // looks more than once
    CHECK(compile::storeCached(directory.path(), {number, 7}, resultOf(100), 1) == "");
  for (const auto& [name, content] : files) {
    CAPTURE(name);
    CHECK(fs::exists(directory.path() / name));
    CHECK(contentOf(directory.path() / name) == content);
  }
  CHECK(std::distance(fs::directory_iterator(directory.path()), {}) ==
        static_cast<ptrdiff_t>(files.size()));
}

TEST_CASE("among other things the cache has a directory of its own") {
  const TemporaryDirectory directory;
  std::ofstream(directory.path() / "uv.lock") << "version = 1\n";
  const compile::DirectoryCheck check = compile::checkCacheDirectory(directory.path());
  REQUIRE(check.isUsable);
  CHECK(check.place == directory.path() / "mneme-cache");
  CHECK((fs::status(check.place).permissions() & fs::perms::all) == fs::perms::owner_all);
  CHECK(compile::checkCacheDirectory(directory.path()).place == check.place);
  CHECK(compile::checkCacheDirectory(check.place).place == check.place);
}

TEST_CASE("an empty directory, and one with a cache only, is the cache's") {
  const TemporaryDirectory directory;
  CHECK(compile::checkCacheDirectory(directory.path()).place == directory.path());
  const TemporaryDirectory filled;
  std::ofstream(filled.path() / (kKey + ".lock"));
  CHECK(compile::storeCached(filled.path(), {1, 2}, resultOf(10), 0) == "");
  CHECK(compile::checkCacheDirectory(filled.path()).place == filled.path());
}

TEST_CASE("entries of earlier releases among other things are found in the new place") {
  const TemporaryDirectory directory;
  const auto files = leavePeoplesFiles(directory.path());
  CHECK(compile::storeCached(directory.path(), {1, 2}, resultOf(10), 0) == "");
  const compile::DirectoryCheck check = compile::checkCacheDirectory(directory.path());
  REQUIRE(check.isUsable);
  const std::optional<compile::Result> found = compile::loadCached(check.place, {1, 2});
  REQUIRE(found);
  CHECK(found->image.size() == 10);
  for (const auto& [name, content] : files)
    CHECK(contentOf(directory.path() / name) == content);
}

TEST_CASE("anything that is not a regular file does not keep the cache waiting") {
  const TemporaryDirectory directory;
  const fs::path entry = directory.path() / (toHex(Hash128{1, 2}) + ".mnemec");
  REQUIRE(mkfifo(entry.c_str(), 0600) == 0);
  CHECK_FALSE(compile::loadCached(directory.path(), {1, 2}));
  CHECK_FALSE(compile::isOwn(entry, CacheFile::Entry));
  REQUIRE(unlink(entry.c_str()) == 0);
  REQUIRE(symlink("/dev/zero", entry.c_str()) == 0);
  CHECK_FALSE(compile::loadCached(directory.path(), {1, 2}));
  CHECK_FALSE(compile::isOwn(entry, CacheFile::Entry));
}
