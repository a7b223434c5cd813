#include <doctest/doctest.h>

#include <map>

#include "runtime/jit/jit_settings.h"

using namespace mneme::jit;

namespace {

struct Outcome {
  Settings settings;
  std::vector<std::string> warnings;
};

Outcome read(const std::map<std::string, std::string>& variables) {
  Outcome outcome;
  outcome.settings = readSettings(
      [&](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
      },
      outcome.warnings);
  return outcome;
}

} // namespace

TEST_CASE("an empty environment asks for nothing") {
  const auto [settings, warnings] = read({});
  CHECK(warnings.empty());
  CHECK(settings.tunedKernels.empty());
  CHECK(settings.cacheDirectory == ".proteus");
  CHECK(settings.cacheBytes == uint64_t{1} << 30);
  CHECK(settings.timeoutSeconds == 300);
  CHECK(settings.maxBinaries == 16);
  CHECK(!settings.isAsync);
  CHECK(settings.asyncThreads == 1);
  CHECK(!settings.dumpsIr);
  CHECK(!settings.trace.kernels);
}

TEST_CASE("every variable has its effect") {
  const auto [settings, warnings] = read({{"PROTEUS_TUNED_KERNELS", "t.json"},
                                          {"PROTEUS_CACHE_DIR", "/c"},
                                          {"MNEME_JIT_CACHE_BYTES", "3M"},
                                          {"MNEME_JIT_TIMEOUT", "2.5"},
                                          {"MNEME_JIT_MAX_BINARIES", "7"},
                                          {"PROTEUS_ASYNC_COMPILATION", "1"},
                                          {"PROTEUS_ASYNC_THREADS", "5"},
                                          {"PROTEUS_ASYNC_TEST_BLOCKING", "1"},
                                          {"PROTEUS_DUMP_LLVM_IR", "1"},
                                          {"PROTEUS_ENABLE_TIMERS", "1"},
                                          {"PROTEUS_TRACE_OUTPUT", "ir-dump;cache-stats"}});
  CHECK(warnings.empty());
  CHECK(settings.tunedKernels == "t.json");
  CHECK(settings.cacheDirectory == "/c");
  CHECK(settings.cacheBytes == 3u << 20);
  CHECK(settings.timeoutSeconds == 2.5);
  CHECK(settings.maxBinaries == 7);
  CHECK(settings.isAsync);
  CHECK(settings.asyncThreads == 5);
  CHECK(settings.waitsForAsync);
  CHECK(settings.dumpsIr);
  CHECK(settings.trace.timers);
  CHECK(settings.trace.ir);
  CHECK(settings.trace.cache);
  CHECK(!settings.trace.kernels);
  CHECK(!settings.trace.specialization);
}

TEST_CASE("the chain names levels in any case, and sites come last") {
  using Kind = CacheLevel::Kind;
  const auto [settings, warnings] =
      read({{"PROTEUS_OBJECT_CACHE_CHAIN", "Storage, MPI-local-lookup,,mpi-REMOTE-lookup"},
            {"MNEME_JIT_SITE_CACHE", "/a::/b"},
            {"PROTEUS_COMM_THREAD_POLL_MS", "3"}});
  CHECK(warnings.empty());
  REQUIRE(settings.cacheLevels.size() == 4);
  CHECK(settings.cacheLevels[0].given == "Storage");
  CHECK(settings.cacheLevels[1].kind == Kind::MpiLocal);
  CHECK(settings.cacheLevels[1].given == "MPI-local-lookup");
  CHECK(settings.cacheLevels[2].kind == Kind::MpiRemote);
  CHECK(settings.cacheLevels[3].kind == Kind::Site);
  CHECK(settings.siteDirectories == std::vector<std::filesystem::path>{"/a", "/b"});
  CHECK(settings.mpiPollMilliseconds == 3);
}

TEST_CASE("an unknown level is said, and ends programs with marks") {
  const auto [settings, warnings] = read({{"PROTEUS_OBJECT_CACHE_CHAIN", "storage,ram"}});
  CHECK(settings.nonsense == "Unknown cache type: ram");
  CHECK(warnings.size() == 1);
  CHECK(settings.cacheLevels.size() == 1);
  const auto unused =
      read({{"PROTEUS_OBJECT_CACHE_CHAIN", "ram"}, {"PROTEUS_USE_STORED_CACHE", "0"}}).settings;
  CHECK(unused.nonsense.empty());
  CHECK(unused.cacheLevels.empty());
}

TEST_CASE("PROTEUS_DISABLE turns tuned kernels off") {
  CHECK(read({{"PROTEUS_TUNED_KERNELS", "t"}, {"PROTEUS_DISABLE", "1"}})
            .settings.tunedKernels.empty());
  CHECK(read({{"PROTEUS_TUNED_KERNELS", "t"}, {"PROTEUS_DISABLE", "0"}}).settings.tunedKernels ==
        "t");
}

TEST_CASE("without the stored cache there is no directory") {
  CHECK(read({{"PROTEUS_USE_STORED_CACHE", "0"}, {"PROTEUS_CACHE_DIR", "/c"}})
            .settings.cacheDirectory.empty());
}

TEST_CASE("sizes have suffixes") {
  const auto bytes = [](const char* text) {
    return read({{"MNEME_JIT_CACHE_BYTES", text}}).settings.cacheBytes;
  };
  CHECK(bytes("10") == 10);
  CHECK(bytes("0") == 0);
  CHECK(bytes("2K") == 2048);
  CHECK(bytes("2G") == uint64_t{2} << 30);
}

TEST_CASE("a malformed value is said, and the default taken") {
  for (const auto& [name, value] :
       std::map<std::string, std::string>{{"PROTEUS_ASYNC_COMPILATION", "yes"},
                                          {"PROTEUS_USE_STORED_CACHE", "x1"},
                                          {"PROTEUS_ASYNC_THREADS", "0"},
                                          {"MNEME_JIT_CACHE_BYTES", "K"},
                                          {"MNEME_JIT_TIMEOUT", "-1"},
                                          {"MNEME_JIT_MAX_BINARIES", "99999999999999999999"},
                                          {"PROTEUS_DISABLE", "true"}}) {
    CAPTURE(name);
    const auto [settings, warnings] = read({{name, value}, {"PROTEUS_TUNED_KERNELS", "t"}});
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].starts_with(name + "='" + value + "' "));
    const Settings defaults;
    CHECK(settings.isAsync == defaults.isAsync);
    CHECK(settings.cacheDirectory == defaults.cacheDirectory);
    CHECK(settings.asyncThreads == defaults.asyncThreads);
    CHECK(settings.cacheBytes == defaults.cacheBytes);
    CHECK(settings.timeoutSeconds == defaults.timeoutSeconds);
    CHECK(settings.maxBinaries == defaults.maxBinaries);
    CHECK(settings.tunedKernels == "t");
  }
  CHECK(read({{"MNEME_JIT_CACHE_BYTES", "18446744073709551615G"}}).warnings.size() == 1);
  CHECK(read({{"MNEME_JIT_TIMEOUT", "nan"}}).warnings.size() == 1);
}

TEST_CASE("numbers are read as stoi reads them") {
  const auto [settings, warnings] = read({{"PROTEUS_ASYNC_COMPILATION", " -1"},
                                          {"PROTEUS_SPECIALIZE_DIMS", "+0"},
                                          {"PROTEUS_ASYNC_THREADS", "3 of them"}});
  CHECK(warnings.empty());
  CHECK(settings.nonsense.empty());
  CHECK(settings.isAsync);
  CHECK(!settings.marked.specializeDims);
  CHECK(settings.asyncThreads == 3);
}

TEST_CASE("a number that is set to nothing makes no sense") {
  CHECK(read({{"PROTEUS_SPECIALIZE_DIMS_RANGE", ""}}).settings.nonsense ==
        "PROTEUS_SPECIALIZE_DIMS_RANGE is empty");
  CHECK(read({{"PROTEUS_COMM_THREAD_POLL_MS", "x"}, {"PROTEUS_USE_STORED_CACHE", "0"}})
            .settings.nonsense.starts_with("PROTEUS_COMM_THREAD_POLL_MS='x' "));
}

TEST_CASE("an unknown trace token costs that token") {
  const auto [settings, warnings] =
      read({{"PROTEUS_TRACE_OUTPUT", ";kernel-trace;everything;specialization"}});
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("'everything'") != std::string::npos);
  CHECK(settings.trace.kernels);
  CHECK(settings.trace.specialization);
}

TEST_CASE("debug output is everything but IR") {
  const Settings settings = read({{"PROTEUS_DEBUG_OUTPUT", "1"}}).settings;
  CHECK(settings.trace.kernels);
  CHECK(settings.trace.timers);
  CHECK(!settings.trace.ir);
}
