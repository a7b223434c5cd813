// librecord.so in a process whose GPU, that of a fake driver, can use pageable memory of the host.
#include "tests/unit/record/guest_run.h"

namespace mneme::record::test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool isMallocOfGlibc = false; // sanitizers have their own
#elif defined(__has_feature)
constexpr bool isMallocOfGlibc =
    !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
#else
constexpr bool isMallocOfGlibc = true;
#endif

Run runOnGpu(const std::string& mode, bool isRecorded, const std::string& environment = "") {
  // The driver is opened once and for ever, which a leak checker reports.
  return run(mode, isRecorded,
             "ASAN_OPTIONS=symbolize=0:detect_leaks=0 LD_LIBRARY_PATH=" MNEME_TEST_GPU_DRIVER " " +
                 environment,
             MNEME_TEST_GPU_GUEST);
}

} // namespace

TEST_CASE("a device that can use pageable memory has launches recorded with it") {
  const Run alone = runOnGpu("pageable", false);
  CHECK(alone.output.find("pageable 1\n") != std::string::npos);
  for (const char* environment : {"", "MNEME_TEST_PAGEABLE=1"}) {
    CAPTURE(environment);
    const Run recorded = runOnGpu("pageable", true, environment);
    CAPTURE(recorded.said);
    CHECK(recorded.output == alone.output);
    CHECK(wholeInstances(recorded) == 4);
    size_t blocks = 0, changed = 0;
    const fs::path data = recorded.directory / "data";
    for (const auto& [hash, instance] : artifact::KernelRecord::load(data / "1.json").instances) {
      const auto prologue = artifact::Snapshot::open(data / instance.prologue);
      const auto epilogue = artifact::Snapshot::open(data / instance.epilogue);
      for (size_t index = 0; index < prologue.regions().size(); ++index)
        if (const artifact::Region& region = prologue.regions()[index];
            region.kind == artifact::RegionKind::HostPinned) {
          CHECK(region.sizeBytes == 2008); // as malloc rounds 2000
          changed += !artifact::changedRanges(prologue, epilogue, index).empty();
          ++blocks;
        }
    }
    const bool isRecorded = *environment && isMallocOfGlibc;
    CHECK(blocks == (isRecorded ? 2 : 0));
    CHECK(changed == (isRecorded ? 1 : 0));
    CHECK((recorded.said.find("ordinary memory of the host (argument 0, 'data')") ==
           std::string::npos) == isRecorded);
  }
}

TEST_CASE("a kernel before which blocks of malloc cannot be told apart is named") {
  if (!isMallocOfGlibc)
    return;
  for (const std::string mode : {"pageable", "pageable-lost"}) {
    CAPTURE(mode);
    const Run recorded = runOnGpu(mode, true, "MNEME_TEST_PAGEABLE=1");
    CAPTURE(recorded.said);
    CHECK(recorded.output == runOnGpu(mode, false).output);
    CHECK((recorded.said.find("its blocks could not be told apart") != std::string::npos) ==
          (mode == "pageable-lost"));
  }
}

} // namespace mneme::record::test
