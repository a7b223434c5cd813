#include <doctest/doctest.h>

#include <fstream>
#include <sys/stat.h>

#include "kernels.h"
#include "runtime/compiler/service/disk_cache.h"
#include "runtime/compiler/service/library_identity.h"
#include "runtime/compiler/service/pass_plugin_files.h"
#include "runtime/core/base/file.h"

using namespace mneme;
using namespace mneme::test;

namespace {

std::filesystem::path onlyEntry(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    files.push_back(entry.path());
  REQUIRE(files.size() == 1);
  return files[0];
}

} // namespace

TEST_CASE("the second compilation of a request comes from the cache, byte for byte") {
  const TemporaryDirectory cache;
  const ScopedEnvironment environment("MNEME_CACHE_DIR", cache.path().c_str());
  compile::Request request = vectorAddRequest("sm_90");
  request.wantIr = true;
  request.wantAssembly = true;
  const compile::Result first = compile::compileCached(request);
  CHECK_FALSE(first.isFromCache);
  const compile::Result second = compile::compileCached(request);
  CHECK(second.isFromCache);
  CHECK(second.image == first.image);
  CHECK(second.ir == first.ir);
  CHECK(second.assembly == first.assembly);
  CHECK(second.statisticsJson == first.statisticsJson);
  request.passes = "default<O1>";
  CHECK_FALSE(compile::compileCached(request).isFromCache);
}

TEST_CASE("a hit does not load the compiler") {
  const TemporaryDirectory cache;
  const ScopedEnvironment environment("MNEME_CACHE_DIR", cache.path().c_str());
  const compile::Request request = vectorAddRequest("sm_90");
  const compile::Result first = compile::compileCached(request);
  // The head of the library: its build id is still there, but the loader would refuse it.
  const TemporaryDirectory elsewhere;
  const std::filesystem::path torso = elsewhere.path() / "libmneme_compile.so";
  std::vector<std::byte> content = readFile(compile::compileLibraryPath());
  const std::string identity = compile::libraryIdentity(compile::compileLibraryPath());
  content.resize(16384);
  writeFileAtomically(torso, content);
  const ScopedEnvironment library("MNEME_COMPILE_LIBRARY", torso.c_str());
  CHECK(compile::libraryIdentity(torso) == identity);
  const compile::Result second = compile::compileCached(request);
  CHECK(second.isFromCache);
  CHECK(second.image == first.image);
}

TEST_CASE("a damaged entry is compiled again and replaced") {
  const TemporaryDirectory cache;
  const ScopedEnvironment environment("MNEME_CACHE_DIR", cache.path().c_str());
  const compile::Request request = vectorAddRequest("sm_90");
  const compile::Result first = compile::compileCached(request);
  const std::filesystem::path entry = onlyEntry(cache.path());
  const std::vector<std::byte> whole = readFile(entry);
  std::vector<std::byte> flipped = whole;
  flipped[whole.size() / 2] ^= std::byte{4};
  const std::vector<std::byte> cut(whole.begin(), whole.begin() + 50);
  for (const std::vector<std::byte>& damaged : {flipped, cut, std::vector<std::byte>{}}) {
    writeFileAtomically(entry, damaged);
    const compile::Result again = compile::compileCached(request);
    CHECK_FALSE(again.isFromCache);
    CHECK(again.image == first.image);
    CHECK(compile::compileCached(request).isFromCache);
  }
}

TEST_CASE("a directory others can write to is not used") {
  const TemporaryDirectory cache;
  chmod(cache.path().c_str(), 0777);
  const ScopedEnvironment environment("MNEME_CACHE_DIR", cache.path().c_str());
  CHECK_FALSE(compile::cacheDirectory().has_value());
  const compile::Request request = vectorAddRequest("sm_90");
  CHECK_FALSE(compile::compileCached(request).image.empty());
  CHECK(std::filesystem::is_empty(cache.path()));
}

TEST_CASE("a missing cache directory is made for this user alone") {
  const TemporaryDirectory parent;
  const std::filesystem::path path = parent.path() / "a" / "b";
  const ScopedEnvironment environment("MNEME_CACHE_DIR", path.c_str());
  REQUIRE(compile::cacheDirectory() == path);
  CHECK((std::filesystem::status(path).permissions() & std::filesystem::perms::all) ==
        std::filesystem::perms::owner_all);
}

TEST_CASE("the key depends on every field that changes the code") {
  const compile::Request base = vectorAddRequest("sm_90");
  const Hash128 key = compile::cacheKey(base, "id");
  const auto changed = [&](auto&& change) {
    compile::Request request = base;
    change(request);
    return compile::cacheKey(request, "id") != key;
  };
  CHECK(compile::cacheKey(base, "id") == key);
  CHECK(compile::cacheKey(base, "other") != key);
  CHECK(changed([](auto& request) { request.kernel = "x"; }));
  CHECK(changed([](auto& request) { request.target = "sm_80"; }));
  CHECK(changed([](auto& request) { request.passes = ""; }));
  CHECK(changed([](auto& request) { request.codegenOptLevel = 1; }));
  CHECK(changed([](auto& request) { request.prune = false; }));
  CHECK(changed([](auto& request) { request.specializedArgs = {argument(3, 1)}; }));
  CHECK(changed([](auto& request) { request.modules[0].pop_back(); }));
  CHECK(changed([](auto& request) { request.specializeDims = true; }));
  CHECK(changed([](auto& request) { request.optionsJson = "{}"; }));
  CHECK(changed([](auto& request) { request.llvmOptions = "unroll-threshold=1"; }));
  CHECK(changed([](auto& request) { request.plugins = {{"/a.so", 1}}; }));
  CHECK_FALSE(changed([](auto& request) { request.grid[0] = 9; }));
}

TEST_CASE("pass plugins are known by their content, wherever they are") {
  const auto keyWith = [](std::vector<compile::PassPlugin> plugins) {
    compile::Request request = vectorAddRequest("sm_90");
    request.plugins = std::move(plugins);
    return compile::cacheKey(request, "id");
  };
  CHECK(keyWith({{"/a.so", 1}}) == keyWith({{"/b.so", 1}}));
  CHECK(keyWith({{"/a.so", 1}}) != keyWith({{"/a.so", 2}}));
  CHECK(keyWith({{"/a.so", 1}}) != keyWith({{"/a.so", 1}, {"/a.so", 1}}));
}

TEST_CASE("files of pass plugins have texts that hold the hash of their content") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() / "plugin@home.so";
  std::ofstream(path) << "one";
  const std::string text = compile::passPluginText(path);
  CHECK(text.starts_with(path + "@"));
  const auto plugins = compile::passPluginsIn(text + ":" + path + "::/none.so");
  REQUIRE(plugins.size() == 3);
  CHECK(plugins[0].path == path);
  CHECK(plugins[1].path == path);
  CHECK(plugins[0].contentHash == plugins[1].contentHash);
  CHECK(plugins[2].path == "/none.so");
  compile::checkUnchanged(plugins);
  std::ofstream(path) << "two";
  CHECK(compile::passPluginText(path) != text);
  CHECK(compile::passPluginsIn(text)[0].contentHash == plugins[0].contentHash);
  CHECK_THROWS_WITH_AS(compile::checkUnchanged(plugins), doctest::Contains("has changed"), Error);
  for (const std::string& wrong : {path + ".none", directory.path().string()})
    CHECK_THROWS_WITH_AS(compile::passPluginText(wrong), doctest::Contains("no pass plugin"),
                         Error);
  const std::string divided = directory.path() / "a:b.so";
  std::ofstream(divided) << "one";
  CHECK_THROWS_WITH_AS(compile::passPluginText(divided), doctest::Contains("has a ':'"), Error);
}

TEST_CASE("without the compiler the error says what to set") {
  const ScopedEnvironment library("MNEME_COMPILE_LIBRARY", "/nonexistent/libmneme_compile.so");
  const std::string path = compile::compileLibraryPath();
  CHECK(path == "/nonexistent/libmneme_compile.so");
  CHECK(compile::libraryIdentity(path).empty());
  const TemporaryDirectory directory;
  const std::string pipe = directory.path() / "libmneme_compile.so";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(compile::libraryIdentity(pipe).empty()); // without waiting for a writer
}

TEST_CASE("what only the assembler sees is part of the key") {
  const compile::Request plain = vectorAddRequest("sm_90");
  std::vector<Hash128> keys;
  const auto add = [&](const compile::Request& request) {
    keys.push_back(compile::cacheKey(request, "library"));
  };
  add(plain);
  compile::Request changed = plain;
  changed.maxRegisters = 32;
  add(changed);
  changed = plain;
  changed.assemblerOptions = "-lineinfo";
  add(changed);
  changed = plain;
  changed.placedGlobals = {{"counter", 4096}};
  add(changed);
  changed.placedGlobals = {{"counter", 8192}};
  add(changed);
  const TemporaryDirectory directory;
  const std::string tool = (directory.path() / "ptxas").string();
  std::ofstream(tool) << "#!/bin/sh\n";
  std::filesystem::permissions(tool, std::filesystem::perms::owner_all);
  const ScopedEnvironment ptxas("MNEME_PTXAS", tool.c_str());
  add(plain);
  std::ofstream(tool) << "#!/bin/sh\n# another release\n";
  add(plain);
  const ScopedEnvironment driver("MNEME_ASSEMBLER", "driver");
  add(plain);
  for (size_t i = 0; i < keys.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      CHECK(keys[i] != keys[k]);
}

TEST_CASE("the size limit of the tuning cache can be written with a unit") {
  const auto limitFrom = [](const char* text) {
    const ScopedEnvironment variable("MNEME_CACHE_BYTES", text);
    return compile::cacheBytesLimit();
  };
  CHECK(limitFrom(nullptr) == uint64_t{10} << 30);
  CHECK(limitFrom("0") == 0);
  CHECK(limitFrom("1234") == 1234);
  CHECK(limitFrom("500M") == uint64_t{500} << 20);
  CHECK(limitFrom("2T") == uint64_t{2} << 40);
  CHECK(limitFrom("lots") == uint64_t{10} << 30);
}

TEST_CASE("the tuning cache stays below its limit") {
  const TemporaryDirectory cache;
  const ScopedEnvironment directory("MNEME_CACHE_DIR", cache.path().c_str());
  const ScopedEnvironment limit("MNEME_CACHE_BYTES", "1K");
  CHECK_FALSE(compile::compileCached(vectorAddRequest("sm_90")).image.empty());
  CHECK(std::filesystem::is_empty(cache.path()));
}
