// librecord.so in a process whose runtime is a vendor's: memory comes from the driver's virtual
// memory functions, here a fake driver's.
#include "tests/unit/record/gpu_run.h"

#include <array>
#include <cstring>
#include <map>
#include <set>
#include <span>

namespace mneme::record::test {
namespace {

artifact::Snapshot prologueOf(const Run& run, size_t index) {
  const fs::path data = run.directory / "data";
  const auto record = artifact::KernelRecord::load(data / "1.json");
  auto instance = record.instances.begin();
  std::advance(instance, index);
  return artifact::Snapshot::open(data / instance->second.prologue);
}

/// How much of what a launch saw lies where reservations of the program are placed.
uint64_t mappedBytes(const Run& run, size_t index) {
  uint64_t sizeBytes = 0;
  const artifact::Snapshot prologue = prologueOf(run, index);
  for (const artifact::Region& region : prologue.regions())
    if (region.address >= 0x700000000000 && region.address < 0x780000000000)
      sizeBytes += region.sizeBytes;
  return sizeBytes;
}

/// How many of the recorded launches saw variables the kernel does not name.
size_t launchesThatReach(const Run& run) {
  size_t count = 0;
  for (size_t index = 0; index < static_cast<size_t>(wholeInstances(run)); ++index) {
    std::set<std::string> names;
    const artifact::Snapshot prologue = prologueOf(run, index);
    for (const artifact::Region& region : prologue.regions())
      names.insert(region.name);
    CHECK((names == std::set<std::string>{"", "counter"} ||
           names == std::set<std::string>{"", "counter", "reached", "link", "beyond"}));
    count += names.contains("beyond");
  }
  return count;
}

/// What was recorded of the L1 cache, by the number that is an argument of the launch.
std::map<int, CacheConfig> cacheConfigsOf(const char* mode, const char* kernel) {
  const Run alone = runOnGpu(mode, false),
            recorded = runOnGpu(mode, true, "MNEME_MAX_RECORDINGS=100");
  CAPTURE(recorded.said);
  CHECK(recorded.output == alone.output);
  const fs::path data = recorded.directory / "data";
  std::map<int, CacheConfig> found;
  for (const auto& [hash, instance] : artifact::KernelRecord::load(data / kernel).instances) {
    const auto values = artifact::Snapshot::open(data / instance.prologue).args();
    int count = 0;
    std::memcpy(&count, values.at(1).data(), sizeof count);
    found[count] = instance.cacheConfig;
  }
  return found;
}

} // namespace

TEST_CASE("a program recorded on a GPU behaves as it does alone") {
  for (const char* mode : {"plain", "threads", "fork", "fault", "_exit", "quick_exit", "handler"}) {
    CAPTURE(mode);
    const Run alone = runOnGpu(mode, false), recorded = runOnGpu(mode, true);
    CHECK(recorded.status == alone.status);
    CHECK(recorded.output == alone.output);
    CHECK(wholeInstances(recorded) >= 2);
  }
}

TEST_CASE("a kernel that waits for the program is given up on a GPU, and the program goes on") {
  const char* const patience = "MNEME_KERNEL_PATIENCE=0.5";
  const Run alone = runOnGpu("waits", false), recorded = runOnGpu("waits", true, patience);
  CAPTURE(recorded.said);
  CHECK(recorded.output == alone.output);
  CHECK(recorded.said.find("after 0.5 s it had not ended") != std::string::npos);
  CHECK(wholeInstances(recorded) == 3); // and no more of that kernel

  const Run idle = runOnGpu("waits-only", true);
  CAPTURE(idle.said);
  CHECK(idle.output == alone.output);
  CHECK(idle.said.find("after 1 s it had not ended") != std::string::npos);

  const Run behind = runOnGpu("waits-unseen", true, patience);
  CAPTURE(behind.said);
  CHECK(behind.output == alone.output);
  CHECK(behind.said.find("earlier work on the device had not ended") != std::string::npos);
  CHECK(wholeInstances(behind) == 4);
}

TEST_CASE("device memory of a GPU is placed in the window") {
  const Run recorded = runOnGpu("plain", true);
  CAPTURE(recorded.said);
  const auto record = artifact::KernelRecord::load(recorded.directory / "data" / "1.json");
  CHECK(record.device == "cuda:0");
  CHECK(record.windowAddress == 0x600000000000);
  REQUIRE(record.instances.size() == 2);
  for (const auto& [hash, instance] : record.instances)
    CHECK(instance.recordedNs == 500000); // as the driver's events say
  const auto prologue = prologueOf(recorded, 0);
  REQUIRE(prologue.regions().size() == 2);
  CHECK(prologue.regions()[0].address == record.windowAddress);
  CHECK(prologue.regions()[1].name == "counter");
}

TEST_CASE("launches on several GPUs by one call are recorded on the GPU of each") {
  const Run alone = runOnGpu("devices", false), recorded = runOnGpu("devices", true);
  CAPTURE(recorded.said);
  CHECK(recorded.output == alone.output);
  CHECK(recorded.output.find("together 0\none 0\nnone 1\nno list 1\nrefused 1\ndevice 0 0") !=
        std::string::npos);
  CHECK(wholeInstances(recorded) == 3);
  const auto record = artifact::KernelRecord::load(recorded.directory / "data" / "1.json");
  CHECK(record.device == "cuda:1"); // the first that was recorded
  for (const auto& [hash, instance] : record.instances)
    CHECK(instance.isCooperative);
}

TEST_CASE("what does not fit into the window of a GPU is recorded where the vendor placed it") {
  const Run recorded = runOnGpu("large", true, "MNEME_PAGE_SIZE=0.01");
  CHECK(recorded.output == runOnGpu("large", false).output);
  CHECK(recorded.said.find("may not be granted these addresses: raise -vass") != std::string::npos);
  CHECK(wholeInstances(recorded) == 4);
}

TEST_CASE("large memory is hashed on the device and arrives behind the program's back") {
  const std::string many = "MNEME_MAX_RECORDINGS=100 MNEME_PAGE_SIZE=0.2";
  const Run recorded = runOnGpu("much", true, many);
  CAPTURE(recorded.said);
  CHECK(recorded.output == runOnGpu("much", false).output);
  CHECK(wholeInstances(recorded) == 5);
  CHECK(launchesThatReach(recorded) == 3);
  // A driver that does not take our kernels: copies do the same.
  const Run copied = runOnGpu("much", true, "MNEME_FAKE_CUDA=cuModuleLoadDataEx=218 " + many);
  CHECK(copied.output == recorded.output);
  CHECK(wholeInstances(copied) == 5);
  CHECK(launchesThatReach(copied) == 3);
  const Run hindered = runOnGpu("much", true, "MNEME_FAKE_CUDA=cuLaunchKernel=1 " + many);
  CHECK(hindered.output == recorded.output);
  CHECK(wholeInstances(hindered) == 2); // those before there was much
}

TEST_CASE("memory that a program maps itself is recorded, at addresses that replays are granted") {
  const Run recorded = runOnGpu("mapped", true, "MNEME_MAX_RECORDINGS=100");
  CAPTURE(recorded.said);
  CHECK(recorded.output == runOnGpu("mapped", false).output);
  CHECK(wholeInstances(recorded) == 5);
  CHECK(recorded.said.find("where it lies") == std::string::npos);
  size_t seen = 0;
  for (size_t index = 0; index < 5; ++index) {
    const uint64_t mapped = mappedBytes(recorded, index);
    CHECK((mapped == 0 || mapped == 8 << 20));
    seen += mapped != 0;
  }
  CHECK(seen == 2); // given to a kernel, and behind a pointer in memory
}

TEST_CASE("multicast memory that another process made is in no recording") {
  const Run recorded = runOnGpu("multicast", true, "MNEME_MAX_RECORDINGS=100");
  CAPTURE(recorded.said);
  CHECK(recorded.output == runOnGpu("multicast", false).output);
  CHECK(recorded.output.find("add 0 map 0") != std::string::npos);
  REQUIRE(wholeInstances(recorded) >= 3);
  for (int index = 0; index < wholeInstances(recorded); ++index)
    CHECK(mappedBytes(recorded, static_cast<size_t>(index)) == 0);
}

TEST_CASE("launches in contexts of a program's own are recorded with the memory of each") {
  const Run recorded = runOnGpu("own-contexts", true, "MNEME_MAX_RECORDINGS=100");
  CAPTURE(recorded.said);
  CHECK(recorded.output == runOnGpu("own-contexts", false).output);
  CHECK(recorded.said.find("memory of contexts that the program made itself is recorded where the "
                           "vendor placed it") != std::string::npos);
  CHECK(recorded.said.find("not recorded") == std::string::npos);
  REQUIRE(wholeInstances(recorded) == 8);
  size_t ofOwn = 0, ofTwo = 0;
  for (size_t index = 0; index < 8; ++index) {
    const artifact::Snapshot prologue = prologueOf(recorded, index);
    size_t own = 0, placed = 0;
    for (const artifact::Region& region : prologue.regions()) {
      own += region.name.empty() && region.sizeBytes == 8192;
      placed += region.name.empty() && region.sizeBytes == 1 << 20;
    }
    CHECK((own > 0) != (placed > 0)); // never that of both
    ofOwn += own == 1;
    ofTwo += own == 2;
  }
  CHECK(ofOwn == 4);
  CHECK(ofTwo == 1);
}

TEST_CASE("launches in a green context are recorded with the memory of the primary one") {
  const Run recorded = runOnGpu("green-context", true);
  CAPTURE(recorded.said);
  CHECK(recorded.output == runOnGpu("green-context", false).output);
  REQUIRE(wholeInstances(recorded) == 4);
  const auto record = artifact::KernelRecord::load(recorded.directory / "data" / "1.json");
  size_t inParts = 0;
  for (const auto& [hash, instance] : record.instances) {
    inParts += instance.part.multiprocessors == 2 && instance.part.of == 4;
    CHECK((instance.part.of == 0 || instance.part.of == 4));
  }
  CHECK(inParts == 1);
}

TEST_CASE("a failed device is not taken for a stream under capture") {
  // The driver gives the same answer to every question then, the failure.
  const Run failed =
      runOnGpu("plain", true, "MNEME_FAKE_CUDA=cuStreamIsCapturing=700,cuCtxSynchronize=700");
  CAPTURE(failed.said);
  CHECK(failed.output == runOnGpu("plain", false).output);
  CHECK(wholeInstances(failed) == 0);
  CHECK(failed.said.find("captured into a graph") == std::string::npos);
  const size_t first = failed.said.find("the device had failed before its launch: ");
  REQUIRE(first != std::string::npos);
  CHECK(failed.said.find("the device had failed", first + 1) == std::string::npos);
}

TEST_CASE("memory that a program may share with other processes is the vendor's") {
  const std::string library = "MNEME_TEST_LIBRARY=" MNEME_TEST_SHARER " ";
  const std::string sentence = "'libmpi_that_shares.so' may share device memory";
  const auto isPlaced = [](const Run& run) {
    return prologueOf(run, 0).regions()[0].address == 0x600000000000;
  };
  const Run together = runOnGpu("plain", true, library + "PMI_SIZE=2");
  CAPTURE(together.said);
  CHECK(wholeInstances(together) == 2);
  CHECK_FALSE(isPlaced(together));
  CHECK(together.said.find(sentence) != std::string::npos);
  const Run alone = runOnGpu("plain", true, library + "PMI_SIZE=1");
  CHECK(isPlaced(alone));
  CHECK(alone.said.find("may share") == std::string::npos);
  // The user can override the guess.
  CHECK(isPlaced(runOnGpu("plain", true, library + "PMI_SIZE=2 MNEME_ALLOCATIONS=window")));
}

TEST_CASE("a driver that places no memory leaves it to the vendor") {
  for (const char* refusal :
       {"MNEME_FAKE_CUDA=cuMemCreate=801", "MNEME_FAKE_CUDA=cuMemMap=1",
        "MNEME_FAKE_CUDA=cuMemSetAccess=1", "MNEME_FAKE_CUDA=cuMemAddressReserve=2",
        "MNEME_ALLOCATIONS=vendor"}) {
    CAPTURE(refusal);
    const Run recorded = runOnGpu("plain", true, refusal);
    CHECK(recorded.output == runOnGpu("plain", false).output);
    CHECK(wholeInstances(recorded) == 2);
    CHECK(prologueOf(recorded, 0).regions()[0].address != 0x600000000000);
  }
}

TEST_CASE("what a program prefers of the cache is recorded: of a kernel, or else of its context") {
  const auto found = cacheConfigsOf("cache-configs", "1.json");
  CHECK(found.at(50) == CacheConfig::None);
  CHECK(found.at(51) == CacheConfig::L1);
  CHECK(found.at(52) == CacheConfig::L1);
  CHECK(found.at(53) == CacheConfig::Shared);
}

TEST_CASE("what a program prefers in one context does not count in another") {
  const auto found = cacheConfigsOf("cache-configs-contexts", "1.json");
  CHECK(found.at(60) == CacheConfig::None);
  CHECK(found.at(61) == CacheConfig::Shared);
  CHECK(found.at(62) == CacheConfig::L1);
  CHECK(found.at(63) == CacheConfig::Shared);
  CHECK(found.at(64) == CacheConfig::L1);    // the context's own
  CHECK(found.at(65) == CacheConfig::Equal); // the device's
  CHECK(found.at(66) == CacheConfig::Equal);
}

TEST_CASE("what a program preferred for a kernel ends with the kernel's code") {
  const auto found = cacheConfigsOf("cache-configs-unloads", "2.json");
  CHECK(found.at(70) == CacheConfig::L1);
  CHECK(found.at(71) == CacheConfig::None);
  CHECK(found.at(72) == CacheConfig::L1);
  CHECK(found.at(73) == CacheConfig::None);
  CHECK(found.at(74) == CacheConfig::None);
}

TEST_CASE("a launch that reaches the heap is recorded with it, unless it allocates itself") {
  const Run alone = runOnGpu("heap", false), recorded = runOnGpu("heap", true);
  CAPTURE(recorded.said);
  CHECK(recorded.output == alone.output);
  const auto record = artifact::KernelRecord::load(recorded.directory / "data" / "1.json");
  std::set<int> found;
  for (const auto& [hash, instance] : record.instances) {
    if (instance.heap == AddressRange())
      continue; // before there was one
    CHECK(instance.heap == AddressRange{0x205400000, 8 << 20});
    std::array<int, 2048> content{};
    readAt(recorded, instance, instance.heap.begin, std::as_writable_bytes(std::span(content)));
    found.insert(content[1024]);
  }
  CHECK(found == std::set<int>{42, 43});
  const auto other = artifact::KernelRecord::load(recorded.directory / "data" / "2.json");
  CHECK(other.instances.size() == 2);
  for (const auto& [hash, instance] : other.instances)
    CHECK(instance.heap == AddressRange());
  CHECK(recorded.said.find("'other(float*, int)' reads what a recording does not hold "
                           "(the device's heap)") != std::string::npos);
}

TEST_CASE("a heap whose begin has a table is recognised") {
  const Run recorded = runOnGpu("heap", true, "MNEME_TEST_HEAP=table");
  const auto record = artifact::KernelRecord::load(recorded.directory / "data" / "1.json");
  CHECK(std::ranges::count_if(record.instances, [](const auto& item) {
          return item.second.heap == AddressRange{0x205400000, 8 << 20};
        }) == 2);
}

TEST_CASE("a heap that does not look as a new one does is not recorded") {
  const Run recorded = runOnGpu("heap", true, "MNEME_TEST_HEAP=other");
  CAPTURE(recorded.said);
  CHECK(recorded.output == runOnGpu("heap", false).output);
  const auto record = artifact::KernelRecord::load(recorded.directory / "data" / "1.json");
  for (const auto& [hash, instance] : record.instances)
    CHECK(instance.heap == AddressRange());
}

TEST_CASE("a device that does not say where its heap is does not hold the program up") {
  const Run alone = runOnGpu("heap", false);
  for (const char* mode : {"heap", "heap-waits"}) {
    CAPTURE(mode); // a kernel that does not get its turn, or one of the program's that goes on
    const bool isOurs = std::string(mode) == "heap";
    const Run recorded =
        runOnGpu(mode, true, isOurs ? "MNEME_TEST_HEAP=never" : "MNEME_KERNEL_PATIENCE=0.5");
    CAPTURE(recorded.said);
    CHECK(recorded.status == 0);
    if (isOurs)
      CHECK(recorded.output == alone.output);
    CHECK(recorded.said.find(std::string("are recorded without the device's heap: ") +
                             (isOurs ? "a kernel that looks for it did not get its turn"
                                     : "the device was at work when it was looked for")) !=
          std::string::npos);
    const auto record = artifact::KernelRecord::load(recorded.directory / "data" / "1.json");
    CHECK_FALSE(record.instances.empty());
    for (const auto& [hash, instance] : record.instances)
      CHECK(instance.heap == AddressRange());
  }
}

TEST_CASE("limits that the program sets are recorded with the launches after that") {
  const Run recorded = runOnGpu("limits", true);
  CAPTURE(recorded.said);
  CHECK(recorded.output == runOnGpu("limits", false).output);
  const auto record = artifact::KernelRecord::load(recorded.directory / "data" / "1.json");
  size_t limited = 0;
  for (const auto& [hash, instance] : record.instances) {
    limited += instance.limits.stackBytes == 65536;
    CHECK(instance.limits.heapBytes == 0);
  }
  CHECK(limited == 1);
  CHECK(record.instances.size() == 3);
}

TEST_CASE("a driver that fails while recording costs recordings, not the program") {
  for (const char* refusal :
       {"MNEME_FAKE_CUDA=cuMemcpyDtoHAsync=1", "MNEME_FAKE_CUDA=cuMemHostAlloc=2",
        "MNEME_FAKE_CUDA=cuEventRecord=1", "MNEME_FAKE_CUDA=cuInit=100"}) {
    CAPTURE(refusal);
    const Run recorded = runOnGpu("plain", true, refusal);
    CHECK(recorded.output == runOnGpu("plain", false).output);
    CHECK(recorded.status == 0);
    CHECK(recorded.said.find("mneme: ") != std::string::npos);
  }
}

} // namespace mneme::record::test
