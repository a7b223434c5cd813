// librecord.so in a real process: what the program does and says must not change, and what it
// launched must be on disk.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <doctest/doctest.h>
#include <sys/wait.h>

#include "runtime/artifact/directory.h"
#include "runtime/artifact/snapshot.h"

namespace mneme::record::test {
namespace {

namespace fs = std::filesystem;

struct Run {
  std::string output; ///< stdout
  std::string said;   ///< stderr
  int status = 0;     ///< as wait() reports it
  fs::path directory;
  ~Run() {
    std::error_code ignored;
    fs::remove_all(directory, ignored);
  }
};

std::string readAll(const fs::path& path) {
  std::string text;
  if (FILE* file = std::fopen(path.c_str(), "r")) {
    std::array<char, 4096> part{};
    for (size_t size; (size = std::fread(part.data(), 1, part.size(), file)) > 0;)
      text.append(part.data(), size);
    std::fclose(file);
  }
  return text;
}

Run run(const std::string& mode, bool isRecorded, const std::string& environment = "") {
  Run result;
  std::string name = (fs::temp_directory_path() / "mneme-test-XXXXXX").string();
  result.directory = mkdtemp(name.data());
  const fs::path data = result.directory / "data";
  fs::create_directory(data);
  const std::string recorder =
      isRecorded ? " LD_PRELOAD=" MNEME_TEST_RECORD " MNEME_DATA_DIR=" + data.string() : "";
  // A sanitizer's symbolizer would be preloaded with the recorder, too.
  const std::string command = "exec env ASAN_OPTIONS=symbolize=0 UBSAN_OPTIONS=symbolize=0 " +
                              environment + recorder + " " MNEME_TEST_GUEST " " + mode + " >" +
                              (result.directory / "out").string() + " 2>" +
                              (result.directory / "err").string();
  result.status = std::system(command.c_str());
  result.output = readAll(result.directory / "out");
  result.said = readAll(result.directory / "err");
  return result;
}

/// Checks every instance; returns how many there are.
size_t wholeInstances(const Run& run) {
  size_t count = 0;
  for (const fs::path& path : artifact::listDirectory(run.directory / "data").records)
    for (const auto& [hash, instance] : artifact::KernelRecord::load(path).instances) {
      artifact::Snapshot::open(path.parent_path() / instance.prologue).verifyAll();
      artifact::Snapshot::open(path.parent_path() / instance.epilogue).verifyAll();
      ++count;
    }
  return count;
}

} // namespace

TEST_CASE("a recorded program behaves as it does alone") {
  for (const char* mode : {"plain", "threads", "fork", "vfork", "fault", "_exit", "quick_exit",
                           "handler", "abort", "exec"}) {
    CAPTURE(mode);
    // The other program cannot load a recorder that needs the sanitizer's runtime.
    if (MNEME_TEST_IS_SANITIZED && (mode == std::string("exec") || mode == std::string("vfork")))
      continue;
    const Run alone = run(mode, false), recorded = run(mode, true);
    CHECK(recorded.status == alone.status);
    CHECK(recorded.output == alone.output);
    const size_t instances = wholeInstances(recorded);
    CHECK((instances >= 2 || mode == std::string("abort"))); // whose queue is lost
  }
}

TEST_CASE("the recording holds regions, globals, arguments and counts") {
  const Run recorded = run("plain", true);
  const fs::path data = recorded.directory / "data";
  const auto record = artifact::KernelRecord::load(data / "1.json");
  CHECK(record.demangledName == "scale(float*, int)");
  CHECK(record.device == "cpu");
  CHECK(record.readModule(data, 0).size() == 16);
  REQUIRE(record.instances.size() == 2);
  uint64_t occurrences = 0;
  for (const auto& [hash, instance] : record.instances) {
    occurrences += instance.occurrences;
    const auto prologue = artifact::Snapshot::open(data / instance.prologue);
    REQUIRE(prologue.regions().size() == 2);
    CHECK(prologue.regions()[0].address == record.windowAddress);
    CHECK(prologue.regions()[1].name == "counter");
    REQUIRE(prologue.args().size() == 2);
    CHECK(prologue.args()[1].size() == 4);
    const auto epilogue = artifact::Snapshot::open(data / instance.epilogue);
    CHECK(artifact::changedRanges(prologue, epilogue, 0).size() == 1);
    CHECK(artifact::changedRanges(prologue, epilogue, 1).size() == 1);
  }
  CHECK(occurrences == 3);
  CHECK(recorded.said.find("recorded 2 instances of 1 kernel (3 launches)") != std::string::npos);
  CHECK(artifact::listDirectory(data).notes.empty());
}

TEST_CASE("options choose what is recorded") {
  CHECK(wholeInstances(run("plain", true, "MNEME_MAX_RECORDINGS=1")) == 1);
  CHECK(wholeInstances(run("plain", true, "MNEME_SKIP_RECORDINGS=1")) == 1);
  CHECK(wholeInstances(run("plain", true, "MNEME_RR_KERNELS=other")) == 0);
  CHECK(wholeInstances(run("plain", true, "'MNEME_RR_KERNELS=scale.float'")) == 2);
  CHECK(wholeInstances(run("plain", true, "PMI_RANK=1")) == 0);
  CHECK(wholeInstances(run("plain", true, "PMI_RANK=1 MNEME_RECORD_RANKS=0-1")) == 2);
}

TEST_CASE("settings that make no sense leave the program unrecorded with a sentence") {
  const Run recorded = run("plain", true, "MNEME_EPILOGUE_TYPE=wrong");
  CHECK(recorded.output == run("plain", false).output);
  CHECK(recorded.said.find("MNEME_EPILOGUE_TYPE='wrong'") != std::string::npos);
  CHECK(wholeInstances(recorded) == 0);
}

TEST_CASE("what does not fit into the window is the vendor's and is not recorded") {
  const Run recorded = run("large", true, "MNEME_PAGE_SIZE=0.01");
  CHECK(recorded.output == run("large", false).output);
  CHECK(recorded.said.find("raise -vass") != std::string::npos);
  CHECK(wholeInstances(recorded) == 3); // the launch after the free is recorded again
}

TEST_CASE("a failed kernel is not recorded") {
  const Run recorded = run("fault", true);
  CHECK(recorded.said.find("failed with status 719") != std::string::npos);
  CHECK(wholeInstances(recorded) == 2);
}

} // namespace mneme::record::test
