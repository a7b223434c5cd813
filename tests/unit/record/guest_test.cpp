// librecord.so in a real process: what the program does and says must not change, and what it
// launched must be on disk.
#include "tests/unit/record/guest_run.h"

namespace mneme::record::test {

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

TEST_CASE("a kernel that waits for the program is given up, and the program goes on") {
  const char* const patience = "MNEME_KERNEL_PATIENCE=0.5";
  const Run alone = run("waits", false), recorded = run("waits", true, patience);
  CAPTURE(recorded.said);
  CHECK(recorded.output == alone.output);
  CHECK(recorded.said.find("after 0.5 s it had not ended") != std::string::npos);
  CHECK(wholeInstances(recorded) == 3); // and no more of that kernel

  const Run behind = run("waits-unseen", true, patience);
  CAPTURE(behind.said);
  CHECK(behind.output == alone.output);
  CHECK(behind.said.find("earlier work on the device had not ended") != std::string::npos);
  CHECK(wholeInstances(behind) == 4);
}

TEST_CASE("options choose what is recorded") {
  CHECK(wholeInstances(run("plain", true, "MNEME_MAX_RECORDINGS=1")) == 1);
  CHECK(wholeInstances(run("plain", true, "MNEME_SKIP_RECORDINGS=1")) == 2);
  CHECK(wholeInstances(run("plain", true, "MNEME_SKIP_RECORDINGS=2")) == 1);
  CHECK(wholeInstances(run("plain", true, "MNEME_SKIP_RECORDINGS=3")) == 0);
  CHECK(wholeInstances(run("plain", true, "MNEME_RR_KERNELS=other")) == 0);
  CHECK(wholeInstances(run("plain", true, "'MNEME_RR_KERNELS=scale.float'")) == 2);
  CHECK(wholeInstances(run("plain", true, "'MNEME_RECORD_DIMS=2/32;1/64'")) == 0);
  CHECK(wholeInstances(run("plain", true, "MNEME_RECORD_DIMS=1/32")) == 2);
  const char* halves = "MNEME_MAX_RECORDINGS=2 'MNEME_RECORD_DIMS=2/32;1/32'";
  CHECK(wholeInstances(run("plain", true, halves)) == 1);
  CHECK(wholeInstances(run("plain", true, "MNEME_RECORD_DIMS=1/32@1")) == 2);
  CHECK(wholeInstances(run("plain", true, "MNEME_RECORD_DIMS=1/32@2")) == 1);
  CHECK(wholeInstances(run("plain", true, "MNEME_RECORD_DIMS=1/32@3")) == 0);
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
  CHECK(recorded.said.find("it failed: status 719") != std::string::npos);
  CHECK(wholeInstances(recorded) == 2);
}

} // namespace mneme::record::test
