#include <doctest/doctest.h>

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels.h"
#include "runtime/compiler/service/disk_cache.h"
#include "runtime/compiler/service/library_identity.h"
#include "runtime/compiler/service/messages.h"
#include "runtime/compiler/service/service.h"
#include "runtime/core/base/file.h"
#include "stand_in.h"

using namespace mneme;
using namespace mneme::test;
using compile::compileApart;
using compile::findStored;
using compile::ServiceOptions;

namespace {

ServiceOptions optionsFor(const TemporaryDirectory& cache) {
  ServiceOptions options;
  options.cacheDirectory = cache.path();
  return options;
}

std::vector<std::string> filesIn(const std::filesystem::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    names.push_back(entry.path().filename());
  return names;
}

std::filesystem::path entryOf(const TemporaryDirectory& cache, const compile::Request& request) {
  const std::string identity = compile::libraryIdentity(compile::compileLibraryPath());
  return cache.path() / (toHex(compile::cacheKey(request, identity)) + ".mnemec");
}

void makeOld(const std::filesystem::path& file, time_t seconds) {
  const time_t then = time(nullptr) - seconds;
  const timespec times[2] = {{then, 0}, {then, 0}};
  REQUIRE(utimensat(AT_FDCWD, file.c_str(), times, 0) == 0);
}

/// `count` processes run `action` at the same time; how many of them return true.
template <typename Action> int inProcesses(int count, Action&& action) {
  std::vector<pid_t> children;
  for (int i = 0; i < count; ++i) {
    const pid_t child = fork();
    if (child == 0)
      _exit(action(i) ? 0 : 1);
    children.push_back(child);
  }
  int successes = 0;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    successes += WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  return successes;
}

} // namespace

TEST_CASE("the compiler process makes what the library makes, and the second time none is needed") {
  const TemporaryDirectory cache;
  compile::Request request = smallRequest();
  request.wantIr = true;
  request.wantAssembly = true;
  const compile::Result here = compile::compile(request);
  const compile::Result apart = compileApart(request, optionsFor(cache));
  CHECK_FALSE(apart.isFromCache);
  CHECK(apart.image == here.image);
  CHECK(apart.ir == here.ir);
  CHECK(apart.assembly == here.assembly);
  CHECK(contains(apart.statisticsJson, "\"obj_size\""));
  CHECK(filesIn(cache.path()).size() == 1);

  const ScopedEnvironment program("MNEME_COMPILE_PROGRAM", "/nowhere/mneme-jit-compile");
  const compile::Result again = compileApart(request, optionsFor(cache));
  CHECK(again.isFromCache);
  CHECK(again.image == here.image);
  CHECK(again.ir == here.ir);
  compile::Result stored;
  CHECK(findStored(request, optionsFor(cache), stored));
  CHECK(stored.image == here.image);
  request.passes = "default<O2>";
  CHECK_FALSE(findStored(request, optionsFor(cache), stored));
}

TEST_CASE("what another compiler program makes is kept apart") {
  const TemporaryDirectory cache;
  const compile::Request request = smallRequest();
  CHECK_FALSE(compileApart(request, optionsFor(cache)).isFromCache);
  {
    const StandIn program("exec \"$real\" \"$@\"");
    compile::Result stored;
    CHECK_FALSE(findStored(request, optionsFor(cache), stored));
    CHECK_FALSE(compileApart(request, optionsFor(cache)).isFromCache);
    CHECK(compileApart(request, optionsFor(cache)).isFromCache);
  }
  CHECK(compileApart(request, optionsFor(cache)).isFromCache);
  CHECK(filesIn(cache.path()).size() == 2);
}

TEST_CASE("a hit needs no LLVM: the head of the library is enough") {
  const TemporaryDirectory cache;
  const compile::Request request = smallRequest();
  compileApart(request, optionsFor(cache));
  const TemporaryDirectory elsewhere;
  const std::filesystem::path torso = elsewhere.path() / "libmneme_compile.so";
  std::vector<std::byte> content = readFile(compile::compileLibraryPath());
  content.resize(16384);
  writeFileAtomically(torso, content);
  const ScopedEnvironment library("MNEME_COMPILE_LIBRARY", torso.c_str());
  CHECK(compileApart(request, optionsFor(cache)).isFromCache);
}

TEST_CASE("without a directory everything is compiled, and nothing is found") {
  const compile::Request request = smallRequest();
  CHECK_FALSE(compileApart(request, {}).image.empty());
  compile::Result stored;
  CHECK_FALSE(findStored(request, {}, stored));
}

TEST_CASE("what the compiler refuses has the compiler's own code and sentence") {
  const TemporaryDirectory cache;
  const Failure failure =
      failureOf([&] { compileApart(smallRequest("no-such-pass"), optionsFor(cache)); });
  CHECK(failure.code == ErrorCode::InvalidArgument);
  CHECK(contains(failure.message, "no-such-pass"));
}

TEST_CASE("a compiler that crashes, hangs or talks nonsense costs one sentence") {
  const TemporaryDirectory cache;
  ServiceOptions options = optionsFor(cache);
  const compile::Request request = smallRequest();
  {
    const StandIn crash("kill -SEGV $$");
    const Failure failure = failureOf([&] { compileApart(request, options); });
    CHECK(failure.code == ErrorCode::CompileFailed);
    CHECK(contains(failure.message, "'vectorAdd' died of signal 11 (Segmentation fault)"));
  }
  {
    const StandIn nonsense("head -c 5000 /dev/zero >&4; echo to the terminal; echo too >&2");
    const Failure failure = failureOf([&] { compileApart(request, options); });
    CHECK(failure.code == ErrorCode::CompileFailed);
    CHECK(contains(failure.message, "ended without an answer"));
  }
  {
    const StandIn hang("sleep 60 & echo $! > $marks/child; wait");
    options.timeoutSeconds = 0.3;
    const Failure failure = failureOf([&] { compileApart(request, options); });
    CHECK(failure.code == ErrorCode::CompileFailed);
    CHECK(contains(failure.message, "was ended after"));
    pid_t child = 0;
    std::ifstream(hang.marks() / "child") >> child;
    CHECK(child > 0);
    CHECK(hasEnded(child)); // what it has started is killed with it
  }
  options.timeoutSeconds = 300;
  CHECK_FALSE(compileApart(request, options).image.empty());
}

TEST_CASE("LLVM's own crash is a sentence, and the next kernel compiles") {
  const Failure failure =
      failureOf([&] { compileApart(smallRequest("trigger-crash-module"), {}); });
  CHECK(failure.code == ErrorCode::CompileFailed);
  CHECK(contains(failure.message, "LLVM gave up on the kernel"));
  CHECK_FALSE(compileApart(smallRequest(), {}).image.empty());
}

TEST_CASE("what is not installed is named, with what to set") {
  const TemporaryDirectory empty;
  {
    const ScopedEnvironment program("MNEME_COMPILE_PROGRAM", "/nowhere/program");
    const Failure failure = failureOf([&] { compileApart(smallRequest(), {}); });
    CHECK(contains(failure.message, "/nowhere/program"));
  }
  const ScopedEnvironment library("MNEME_COMPILE_LIBRARY", "/nowhere/libmneme_compile.so");
  const Failure failure = failureOf([&] { compileApart(smallRequest(), {}); });
  CHECK(failure.code == ErrorCode::NotFound);
  CHECK(contains(failure.message, "MNEME_COMPILE_LIBRARY"));
}

TEST_CASE("processes that want the same image at the same time compile it once") {
  const TemporaryDirectory cache;
  const StandIn counting("touch $marks/$$; exec $real \"$@\"");
  const compile::Request request = smallRequest();
  CHECK(inProcesses(
            4, [&](int) { return !compileApart(request, optionsFor(cache)).image.empty(); }) == 4);
  CHECK(counting.countMarks() == 1);
  CHECK(filesIn(cache.path()).size() == 1); // no lock is left
}

TEST_CASE("processes that wait for a compilation learn why it failed") {
  const TemporaryDirectory cache;
  const TemporaryDirectory arrived;
  const StandIn crash("touch $marks/$$; while [ $(ls " + arrived.path().string() +
                      " | wc -l) -lt 4 ]; do sleep 0.02; done; sleep 0.3; kill -SEGV $$");
  const compile::Request request = smallRequest();
  CHECK(inProcesses(4, [&](int number) {
          std::ofstream(arrived.path() / std::to_string(number));
          const Failure failure = failureOf([&] { compileApart(request, optionsFor(cache)); });
          return failure.code == ErrorCode::CompileFailed && contains(failure.message, "signal 11");
        }) == 4);
  CHECK(crash.countMarks() == 1);
  // A later process tries again.
  const Failure failure = failureOf([&] { compileApart(request, optionsFor(cache)); });
  CHECK(contains(failure.message, "signal 11"));
  CHECK(crash.countMarks() == 2);
}

TEST_CASE("images used least recently go first when there are too many bytes") {
  const TemporaryDirectory cache;
  ServiceOptions options = optionsFor(cache);
  const compile::Request first = smallRequest("default<O1>");
  const compile::Request second = smallRequest("default<O2>");
  const compile::Request third = smallRequest("");
  compileApart(first, options);
  compileApart(second, options);
  const auto old = [&](const compile::Request& request, time_t seconds) {
    makeOld(entryOf(cache, request), seconds);
  };
  old(first, 5000);
  old(second, 4000);
  CHECK(compileApart(first, options).isFromCache); // used now
  options.cacheBytes = std::filesystem::file_size(entryOf(cache, first)) +
                       std::filesystem::file_size(entryOf(cache, second)) + 500;
  compileApart(third, options);
  CHECK(std::filesystem::exists(entryOf(cache, first)));
  CHECK_FALSE(std::filesystem::exists(entryOf(cache, second)));
  CHECK(std::filesystem::exists(entryOf(cache, third)));
}

TEST_CASE("what killed processes left behind goes after an hour") {
  const TemporaryDirectory cache;
  const std::string key(32, 'a');
  const auto leave = [&](const std::string& name, const char* content, time_t seconds) {
    std::ofstream(cache.path() / name) << content;
    makeOld(cache.path() / name, seconds);
    return name;
  };
  const std::string left[] = {
      leave(key + ".mnemec.tmp-1-0", "MNEM", 7200), leave(temporaryName(key + ".mnemec"), "", 7200),
      leave(key + ".lock", "8 it failed", 7200), leave(std::string(32, 'b') + ".lock", "", 7200)};
  const std::string young = leave(key + ".mnemec.tmp-2-0", "MNEM", 10);
  compileApart(smallRequest(), optionsFor(cache));
  for (const std::string& name : left)
    CHECK_FALSE(std::filesystem::exists(cache.path() / name));
  CHECK(std::filesystem::exists(cache.path() / young));
}

TEST_CASE("a damaged image is compiled again") {
  const TemporaryDirectory cache;
  const compile::Request request = smallRequest();
  const compile::Result first = compileApart(request, optionsFor(cache));
  const std::filesystem::path entry = entryOf(cache, request);
  std::vector<std::byte> content = readFile(entry);
  content[content.size() / 2] ^= std::byte{1};
  writeFileAtomically(entry, content);
  compile::Result stored;
  CHECK_FALSE(findStored(request, optionsFor(cache), stored));
  const compile::Result again = compileApart(request, optionsFor(cache));
  CHECK_FALSE(again.isFromCache);
  CHECK(again.image == first.image);
  CHECK(findStored(request, optionsFor(cache), stored));
}

TEST_CASE("a directory others can write to stays untouched; a missing one is made") {
  const TemporaryDirectory parent;
  const std::filesystem::path open = parent.path() / "open";
  std::filesystem::create_directory(open);
  chmod(open.c_str(), 0777);
  ServiceOptions options;
  options.cacheDirectory = open;
  CHECK_FALSE(compileApart(smallRequest(), options).image.empty());
  CHECK(std::filesystem::is_empty(open));
  options.cacheDirectory = parent.path() / "made" / "here";
  compileApart(smallRequest(), options);
  CHECK(filesIn(options.cacheDirectory).size() == 1);
  struct stat status = {};
  REQUIRE(stat(options.cacheDirectory.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
}

TEST_CASE("a full disk leaves nothing behind") {
  const TemporaryDirectory cache;
  rlimit before = {};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto oldHandler = signal(SIGXFSZ, SIG_IGN);
  const rlimit little = {4096, before.rlim_max};
  compile::Result result;
  result.image.resize(100000);
  setrlimit(RLIMIT_FSIZE, &little);
  const std::string problem = compile::storeCached(cache.path(), Hash128{1, 2}, result, 1 << 20);
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, oldHandler);
  CHECK(contains(problem, "cannot write"));
  CHECK(filesIn(cache.path()).empty());
}

TEST_CASE("programs that ignore the end of children, or wait for all of them, compile too") {
  const compile::Request request = smallRequest();
  const auto before = signal(SIGCHLD, SIG_IGN);
  CHECK_FALSE(compileApart(request, {}).image.empty());
  signal(SIGCHLD, [](int) {
    const int saved = errno;
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    errno = saved;
  });
  CHECK_FALSE(compileApart(request, {}).image.empty());
  signal(SIGCHLD, before);
}

TEST_CASE("messages are whole or refused") {
  compile::Request request = smallRequest();
  request.specializedArgs = {argument(3, 7)};
  request.placedGlobals = {{"counter", 4096}, {"table", 0}};
  request.setLaunchBounds = true;
  request.grid[1] = 5;
  request.wantIr = true;
  const std::string packed = compile::packRequest(request);
  const auto unpacked = compile::unpackRequest(bytesOf(packed));
  REQUIRE(unpacked);
  CHECK(compile::cacheKey(*unpacked, "id") == compile::cacheKey(request, "id"));
  CHECK(unpacked->modules == request.modules);
  CHECK(unpacked->grid[1] == 5);
  CHECK(unpacked->wantIr);
  for (size_t at = 0; at < packed.size(); at += 7) {
    std::string damaged = packed;
    damaged[at] = static_cast<char>(damaged[at] ^ 16);
    CHECK_FALSE(compile::unpackRequest(bytesOf(damaged)));
    CHECK_FALSE(compile::unpackRequest(bytesOf(packed.substr(0, at))));
    CHECK_FALSE(compile::unpackAnswer(bytesOf(damaged)));
  }
}

TEST_CASE("the compiler program is found in bin/ of the prefix whose lib/ has the library") {
  const TemporaryDirectory prefix;
  for (const char* directory : {"lib", "bin"})
    std::filesystem::create_directory(prefix.path() / directory);
  const std::filesystem::path library = prefix.path() / "lib" / "libmneme_compile.so";
  const std::filesystem::path program = prefix.path() / "bin" / "mneme-jit-compile";
  std::ofstream(library) << "x";
  std::ofstream(program) << "x";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const ScopedEnvironment chosen("MNEME_COMPILE_LIBRARY", library.c_str());
  CHECK(std::filesystem::equivalent(compile::compileProgramPath(), program));
}
