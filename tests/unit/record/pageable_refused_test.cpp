// librecord.so where kernels can use pageable memory of the host, and the system lets nobody read
// it.
#include <cerrno>
#include <optional>
#include <thread>

#include "tests/unit/record/guest_run.h"
#include "tests/unit/record/refused_reads.h"

namespace mneme::record::test {

TEST_CASE("pageable memory that the system lets nobody read is named, and not recorded as zeros") {
  std::optional<Run> made;
  bool isRefused = false;
  std::thread([&] {
    isRefused = refuseReads(EPERM);
    made.emplace(run("pageable", true,
                     "ASAN_OPTIONS=symbolize=0:detect_leaks=0 MNEME_TEST_PAGEABLE=1 "
                     "LD_LIBRARY_PATH=" MNEME_TEST_GPU_DRIVER,
                     MNEME_TEST_GPU_GUEST));
  }).join();
  if (!isRefused)
    return; // a container may have filters of its own
  const Run& recorded = *made;
  CAPTURE(recorded.said);
  CHECK(recorded.output.find("pageable 1\n") != std::string::npos);
  CHECK(wholeInstances(recorded) == 4);
  const fs::path data = recorded.directory / "data";
  for (const auto& [hash, instance] : artifact::KernelRecord::load(data / "1.json").instances)
    for (const artifact::Region& region :
         artifact::Snapshot::open(data / instance.prologue).regions())
      CHECK(region.kind != artifact::RegionKind::HostPinned);
  const std::string reason = "the system does not let it be read (process_vm_readv): Operation";
  const size_t first = recorded.said.find(reason);
  CHECK(first != std::string::npos);
  CHECK(recorded.said.find(reason, first + 1) == std::string::npos);
  CHECK(recorded.said.find("ordinary memory of the host (argument 0, 'data')") !=
        std::string::npos);
}

} // namespace mneme::record::test
