#include <doctest/doctest.h>

#include <filesystem>
#include <stdexcept>
#include <unistd.h>

#include "tests/unit/jit/support.h"

using namespace mneme;
using namespace mneme::jit;
using namespace mneme::jit::test;

namespace {

/// A file with one kernel "k" of one variant; `keys` are added to it.
std::string fileWith(const std::string& keys, const std::string& hash = "0000000000001234") {
  return R"({"k": {"Mneme": {"StaticHash": ")" + hash + R"(", "Variants": [{
    "Pipeline": "default<O2>", "LaunchBounds": false, "SpecializeDims": false)" +
         (keys.empty() ? "" : ", " + keys) + "}]}}}";
}

const std::string kMatch =
    R"("Match": {"Arch": "sm_90", "GridDim": {"x": 8}, "BlockDim": {"x": 256}, "SharedMem": 0,
       "Args": [{"Index": 1, "Type": "i32", "Bytes": "64000000"}]})";

std::string launchWith(const std::string& rule) {
  return kMatch + R"(, "Launch": {"Rule": ")" + rule +
         R"(", "GridDim": {"x": 32}, "BlockDim": {"x": 64}})";
}

} // namespace

TEST_CASE("a tuned kernel is compiled and loaded once, then launched") {
  const Unit unit(0x1000, {"k"});
  World world(fileWith(""));
  Launch launch(0x1000);
  for (int i = 0; i < 3; ++i)
    CHECK(launch.run(world.engine) == kTunedStatus);
  CHECK(world.compiled == 1);
  CHECK(world.loaded == 1);
  CHECK(world.tunedLaunches == 3);
  CHECK(vendorCalls == 0);
  CHECK(world.warnings.empty());
  CHECK(world.lastDims == tuned::Dims{{8, 1, 1}, {256, 1, 1}});
  const compile::Request& request = world.requests[0];
  REQUIRE(request.modules.size() == 1);
  CHECK(request.modules[0] == embed::test::bytesOf("bitcode of k"));
  CHECK(request.kernel == "k");
  CHECK(request.target == "sm_90");
  CHECK(request.passes == "default<O2>");
  CHECK(request.optionsJson == R"({"fp_contract":"fast"})");
  CHECK(!request.setLaunchBounds);
  CHECK(!request.specializeDims);
  CHECK(request.specializedArgs.empty());
  CHECK(request.placedGlobals.empty());
  CHECK(world.loads[0].kernel == "k");
  CHECK(world.loads[0].handle == reinterpret_cast<const void*>(0x1000));
  CHECK(world.loads[0].module == unit.entry());
  REQUIRE(world.loads[0].globals.size() == 1);
  CHECK(world.loads[0].globals[0].name == "state");
}

TEST_CASE("other kernels and unknown handles go to the vendor") {
  const Unit unit(0x1000, {"k", "other"});
  World world(fileWith(""));
  CHECK(Launch(0x1001).run(world.engine) == kVendorStatus);
  CHECK(Launch(0x7777).run(world.engine) == kVendorStatus);
  CHECK(world.compiled == 0);
  CHECK(world.warnings.empty());
}

TEST_CASE("a stale kernel runs as it was built, and is named") {
  const Unit unit(0x1000, {"k"});
  World world(fileWith("", "00000000deadbeef"));
  for (int i = 0; i < 2; ++i)
    CHECK(Launch(0x1000).run(world.engine) == kVendorStatus);
  REQUIRE(world.warnings.size() == 1);
  CHECK(world.warnings[0] ==
        "tuned kernel 'k' is not used: its code is not the one that was tuned (hash "
        "0000000000001234, tuned 00000000deadbeef); tune it again, unless 'mneme deploy --check' "
        "finds that code "
        "under another name; it runs as it was built");
}

TEST_CASE("a kernel without IR runs as it was built, and is named") {
  const Unit unit(0x1000, {"k"}, false);
  World world(fileWith(""));
  CHECK(Launch(0x1000).run(world.engine) == kVendorStatus);
  REQUIRE(world.warnings.size() == 1);
  CHECK(world.warnings[0].find("carries no mneme IR") != std::string::npos);
}

TEST_CASE("without a device nothing is tuned, which is said once") {
  const Unit unit(0x1000, {"k"});
  World world(fileWith(""));
  world.hasBackend = false;
  for (int i = 0; i < 2; ++i)
    CHECK(Launch(0x1000).run(world.engine) == kVendorStatus);
  REQUIRE(world.warnings.size() == 1);
  CHECK(world.warnings[0].find("there is no device") != std::string::npos);
}

TEST_CASE("launch bounds are the threads launched, one binary for each number") {
  const Unit unit(0x1000, {"k"});
  World world(R"({"k": {"SpecializeDims": false, "TunedMaxThreads": 256, "MinBlocksPerSM": 3}})");
  CHECK(Launch(0x1000, 1, {8, 1, 1}, {256, 1, 1}).run(world.engine) == kTunedStatus);
  CHECK(Launch(0x1000, 1, {9, 1, 1}, {16, 16, 1}).run(world.engine) == kTunedStatus);
  CHECK(Launch(0x1000, 1, {8, 1, 1}, {64, 1, 1}).run(world.engine) == kTunedStatus);
  REQUIRE(world.requests.size() == 2);
  CHECK(world.requests[0].setLaunchBounds);
  CHECK(world.requests[0].maxThreads == 256);
  CHECK(world.requests[0].minBlocksPerSm == 3);
  CHECK(world.requests[1].maxThreads == 64);
  CHECK(world.requests[1].minBlocksPerSm == 0);
}

TEST_CASE("specialised dimensions have a binary for each launch shape") {
  const Unit unit(0x1000, {"k"});
  World world(R"({"k": {"LaunchBounds": false}})");
  for (const uint32_t blocks : {4, 5, 4})
    CHECK(Launch(0x1000, 1, {blocks, 2, 1}, {32, 1, 3}).run(world.engine) == kTunedStatus);
  REQUIRE(world.requests.size() == 2);
  const compile::Request& request = world.requests[1];
  CHECK(request.specializeDims);
  CHECK(request.grid[0] == 5);
  CHECK(request.grid[1] == 2);
  CHECK(request.block[0] == 32);
  CHECK(request.block[2] == 3);
}

TEST_CASE("specialised arguments have a binary for each value") {
  const Unit unit(0x1000, {"k"});
  World world(fileWith(R"("SpecializeArgs": true)"));
  for (const int32_t n : {5, 7, 5, 7, 7})
    CHECK(Launch(0x1000, n).run(world.engine) == kTunedStatus);
  CHECK(world.tunedLaunches == 5);
  REQUIRE(world.requests.size() == 2);
  REQUIRE(world.requests[1].specializedArgs.size() == 1);
  CHECK(world.requests[1].specializedArgs[0].index == 1);
  CHECK(tuned::integerOf(world.requests[1].specializedArgs[0].bytes) == 7);
}

TEST_CASE("only so many binaries are made of a kernel, which is said once") {
  const Unit unit(0x1000, {"k"});
  World world(fileWith(R"("SpecializeArgs": true)"), {.maxBinaries = 2});
  for (const int32_t n : {1, 2})
    CHECK(Launch(0x1000, n).run(world.engine) == kTunedStatus);
  for (const int32_t n : {3, 4, 3})
    CHECK(Launch(0x1000, n).run(world.engine) == kVendorStatus);
  CHECK(Launch(0x1000, 1).run(world.engine) == kTunedStatus);
  CHECK(world.compiled == 2);
  REQUIRE(world.warnings.size() == 1);
  CHECK(world.warnings[0].find("MNEME_JIT_MAX_BINARIES") != std::string::npos);
  // Each device has its own.
  world.device = 1;
  CHECK(Launch(0x1000, 3).run(world.engine) == kTunedStatus);
}

TEST_CASE("values that change with every launch are not compiled, those that come again are") {
  const Unit unit(0x1000, {"k"});
  World world(fileWith(R"("SpecializeArgs": true)"));
  for (int32_t n = 0; n < 10000; ++n)
    CHECK(Launch(0x1000, n).run(world.engine) == (n < 4 ? kTunedStatus : kVendorStatus));
  CHECK(world.compiled == 4);
  CHECK(Launch(0x1000, 20000).run(world.engine) == kVendorStatus);
  CHECK(Launch(0x1000, 20000).run(world.engine) == kTunedStatus);
  CHECK(Launch(0x1000, 20000).run(world.engine) == kTunedStatus);
  CHECK(world.compiled == 5);
  CHECK(world.warnings.empty());
}

TEST_CASE("thousands of values neither fail nor forget the first") {
  const Unit unit(0x1000, {"k"});
  World world(fileWith(R"("SpecializeArgs": true)"), {.maxBinaries = 4});
  for (int32_t n = 0; n < 3000; ++n)
    CHECK(Launch(0x1000, n).run(world.engine) == (n < 4 ? kTunedStatus : kVendorStatus));
  for (int32_t n = 0; n < 4; ++n)
    CHECK(Launch(0x1000, n).run(world.engine) == kTunedStatus);
  CHECK(world.compiled == 4);
}

TEST_CASE("a kernel that cannot be compiled runs as it was built ever after") {
  const Unit unit(0x1000, {"k"});
  World world(fileWith(R"("SpecializeArgs": true)"));
  world.onCompile = [](const compile::Request& request) {
    if (tuned::integerOf(request.specializedArgs[0].bytes) == 1)
      throw Error(ErrorCode::CompileFailed, "the compiler died");
  };
  for (int i = 0; i < 3; ++i)
    CHECK(Launch(0x1000, 1).run(world.engine) == kVendorStatus);
  CHECK(world.requests.size() == 1);
  REQUIRE(world.warnings.size() == 1);
  CHECK(world.warnings[0] == "kernel 'k(int*)' cannot be compiled as tuned: the compiler died; it "
                             "runs as it was built");
  CHECK(Launch(0x1000, 2).run(world.engine) == kTunedStatus);
}

TEST_CASE("a kernel that is marked and not tuned is not said to be tuned") {
  const Unit unit(0x1000, {"k"}, /*carriesIr=*/true, /*isMarked=*/true);
  Settings settings;
  settings.hasMarks = true;
  World world("{}", settings);
  world.onCompile = [](const auto&) { throw Error(ErrorCode::CompileFailed, "no such register"); };
  CHECK(Launch(0x1000).run(world.engine) == kVendorStatus);
  REQUIRE(world.warnings.size() == 1);
  CHECK(world.warnings[0] == "kernel 'k(int*)', which the program marks for compilation at run "
                             "time, cannot be compiled: no such register; it runs as it was built");
}

TEST_CASE("a kernel that cannot be loaded runs as it was built") {
  const Unit unit(0x1000, {"k"});
  World world(fileWith(""));
  world.onLoad = [] { throw Error(ErrorCode::DeviceFailed, "no room"); };
  for (int i = 0; i < 2; ++i)
    CHECK(Launch(0x1000).run(world.engine) == kVendorStatus);
  CHECK(world.compiled == 1);
  REQUIRE(world.warnings.size() == 1);
  CHECK(world.warnings[0].find("cannot be loaded as tuned: no room") != std::string::npos);
}

TEST_CASE("what the backend cannot launch runs as it was built") {
  const Unit unit(0x1000, {"k"});
  World world(fileWith(""));
  world.refusesLaunch = true;
  CHECK(Launch(0x1000).run(world.engine) == kVendorStatus);
  world.refusesLaunch = false;
  CHECK(Launch(0x1000).run(world.engine) == kTunedStatus);
}

TEST_CASE("devices have binaries of their own; a device that cannot be told has none") {
  const Unit unit(0x1000, {"k"});
  World world(fileWith(""));
  CHECK(Launch(0x1000).run(world.engine) == kTunedStatus);
  world.device = 1;
  CHECK(Launch(0x1000).run(world.engine) == kTunedStatus);
  CHECK(world.loaded == 2);
  world.device = -1;
  CHECK(Launch(0x1000).run(world.engine) == kVendorStatus);
  world.device = 9;
  CHECK(Launch(0x1000).run(world.engine) == kVendorStatus);
  REQUIRE(world.warnings.size() == 1);
  CHECK(world.warnings[0].find("device 9 is odd") != std::string::npos);
  CHECK(world.loaded == 2);
}

TEST_CASE("device variables have places to be filled in where the device wants that") {
  const Unit unit(0x1000, {"k"});
  World world(fileWith(""));
  world.placesGlobals = true;
  CHECK(Launch(0x1000).run(world.engine) == kTunedStatus);
  REQUIRE(world.requests[0].placedGlobals.size() == 1);
  CHECK(world.requests[0].placedGlobals[0].name == "state");
  CHECK(world.requests[0].placedGlobals[0].address == 0);
}

TEST_CASE("exact dimensions are for the matched launch, arguments included") {
  const Unit unit(0x1000, {"k"});
  World world(fileWith(launchWith("exact")));
  const tuned::Dims tuned{{32, 1, 1}, {64, 1, 1}}, launched{{8, 1, 1}, {256, 1, 1}};
  CHECK(Launch(0x1000, 100).run(world.engine) == kTunedStatus);
  CHECK(world.lastDims == tuned);
  CHECK(Launch(0x1000, 101).run(world.engine) == kTunedStatus);
  CHECK(world.lastDims == launched);
  Launch withShared(0x1000, 100);
  withShared.launch.sharedBytes = 16;
  CHECK(withShared.run(world.engine) == kTunedStatus);
  CHECK(world.lastDims == launched);
}

TEST_CASE("agnostic dimensions are for the integers and the grid in y that were matched") {
  const Unit unit(0x1000, {"k"});
  World world(fileWith(launchWith("agnostic")));
  CHECK(Launch(0x1000, 100, {16, 1, 1}).run(world.engine) == kTunedStatus);
  CHECK(world.lastDims == tuned::Dims{{64, 1, 1}, {64, 1, 1}});
  CHECK(Launch(0x1000, 101, {8, 1, 1}).run(world.engine) == kTunedStatus);
  CHECK(world.lastDims == tuned::Dims{{8, 1, 1}, {256, 1, 1}});
  CHECK(Launch(0x1000, 100, {8, 4, 1}).run(world.engine) == kTunedStatus);
  CHECK(world.lastDims == tuned::Dims{{8, 4, 1}, {256, 1, 1}});
}

TEST_CASE("no override speaks of other blocks") {
  const Unit unit(0x1000, {"k"});
  for (const std::string rule : {"exact", "cover", "agnostic"}) {
    World world(fileWith(launchWith(rule)));
    CHECK(Launch(0x1000, 100, {8, 1, 1}, {128, 1, 1}).run(world.engine) == kTunedStatus);
    CHECK(world.lastDims == tuned::Dims{{8, 1, 1}, {128, 1, 1}});
  }
}

TEST_CASE("dimensions stay where the file does not list every argument, which is said") {
  const Unit unit(0x1000, {"k"});
  World world(fileWith(R"("Match": {"GridDim": {"x": 8}, "BlockDim": {"x": 256}, "SharedMem": 0},
                          "Launch": {"Rule": "cover", "GridDim": {"x": 32},
                                     "BlockDim": {"x": 64}})"));
  CHECK(Launch(0x1000).run(world.engine) == kTunedStatus);
  CHECK(world.lastDims == tuned::Dims{{8, 1, 1}, {256, 1, 1}});
  REQUIRE(world.warnings.size() == 1);
  CHECK(world.warnings[0] ==
        "variant 0 of tuned kernel 'k' keeps the program's grid and block: Match does not say what "
        "argument 1 was; write the file again with 'mneme deploy'");
}

TEST_CASE("grids that change with every launch are not compiled, those that come again are") {
  const Unit unit(0x1000, {"k"});
  World world(R"({"k": {"LaunchBounds": false}})");
  for (uint32_t blocks = 1; blocks < 40; ++blocks)
    CHECK(Launch(0x1000, 1, {blocks, 1, 1}).run(world.engine) ==
          (blocks <= 4 ? kTunedStatus : kVendorStatus));
  CHECK(world.compiled == 4);
  CHECK(Launch(0x1000, 1, {7, 1, 1}).run(world.engine) == kTunedStatus);
  CHECK(world.compiled == 5);
}

TEST_CASE("whatever goes wrong with a kernel is said once, and not tried again") {
  const Unit unit(0x1000, {"k"});
  const std::string unfit = R"("Match": {"Args": [{"Index": 9, "Type": "i32", "Bytes": "00"}]})";
  World world(fileWith(unfit));
  int warned = 0;
  world.onWarn = [&] {
    if (++warned == 1)
      throw std::runtime_error("out of luck");
  };
  for (int i = 0; i < 3; ++i)
    CHECK(Launch(0x1000).run(world.engine) == kVendorStatus);
  CHECK(warned == 2);
  REQUIRE(world.warnings.size() == 1);
  CHECK(world.warnings[0] == "tuned kernel 'k' is not used: out of luck; it runs as it was built");
}

TEST_CASE("a device that cannot be used for any reason is asked for once") {
  const Unit unit(0x1000, {"k"});
  World world(fileWith(""));
  int asked = 0;
  world.onMakeBackend = [&] {
    ++asked;
    throw std::runtime_error("odd device");
  };
  for (int i = 0; i < 2; ++i)
    CHECK(Launch(0x1000).run(world.engine) == kVendorStatus);
  CHECK(asked == 1);
  REQUIRE(world.warnings.size() == 1);
  CHECK(world.warnings[0].find("odd device") != std::string::npos);
}

TEST_CASE("dimensions are overridden for plain launches only") {
  const Unit unit(0x1000, {"k"});
  World world(fileWith(launchWith("cover")));
  CHECK(Launch(0x1000, 100, {16, 1, 1}).run(world.engine) == kTunedStatus);
  CHECK(world.lastDims == tuned::Dims{{64, 1, 1}, {64, 1, 1}});
  Launch cooperative(0x1000, 100, {16, 1, 1});
  cooperative.launch.form = MNEME_LAUNCH_COOPERATIVE;
  CHECK(cooperative.run(world.engine) == kTunedStatus);
  CHECK(world.lastDims == tuned::Dims{{16, 1, 1}, {256, 1, 1}});
  Launch withShared(0x1000, 100, {16, 1, 1});
  withShared.launch.sharedBytes = 16;
  CHECK(withShared.run(world.engine) == kTunedStatus);
  CHECK(world.lastDims == tuned::Dims{{16, 1, 1}, {256, 1, 1}});
}

TEST_CASE("code is compiled for the dimensions that are launched, not those asked for") {
  const Unit unit(0x1000, {"k"});
  World world(R"({"k": {"Mneme": {"Variants": [{)" + launchWith("cover") + "}]}}}");
  CHECK(Launch(0x1000, 100, {16, 1, 1}).run(world.engine) == kTunedStatus);
  CHECK(world.requests[0].maxThreads == 64);
  CHECK(world.requests[0].grid[0] == 64);
  CHECK(world.requests[0].block[0] == 64);
}

TEST_CASE("bounds in the source are kept where the variant states none") {
  const Unit unit(0x1000, {"k"}); // at most 256 threads
  World world(fileWith(kMatch + R"(, "Launch": {"Rule": "cover", "GridDim": {"x": 4},
                                                "BlockDim": {"x": 512}})"));
  CHECK(Launch(0x1000, 100).run(world.engine) == kTunedStatus);
  CHECK(world.lastDims == tuned::Dims{{8, 1, 1}, {256, 1, 1}});
}

TEST_CASE("a launch that no device makes is the vendor's to refuse, nothing is compiled for it") {
  const Unit unit(0x1000, {"k"});
  World world(R"({"k": {}})");
  CHECK(Launch(0x1000, 1, {0, 1, 1}).run(world.engine) == kVendorStatus);
  CHECK(Launch(0x1000, 1, {1, 1, 1}, {2048, 1, 1}).run(world.engine) == kVendorStatus);
  CHECK(Launch(0x1000, 1, {1, 1, 1}, {0, 0, 0}).run(world.engine) == kVendorStatus);
  CHECK(world.requests.empty());
  CHECK(world.warnings.empty());
}

TEST_CASE("guards that do not hold leave the launch as it is") {
  const Unit unit(0x1000, {"k"});
  World world(fileWith(kMatch + R"(, "Guards": ["Args"])"));
  CHECK(Launch(0x1000, 101).run(world.engine) == kVendorStatus);
  CHECK(Launch(0x1000, 100).run(world.engine) == kTunedStatus);
  CHECK(Launch(0x1000, 101).run(world.engine) == kVendorStatus);
  CHECK(world.compiled == 1);
}

TEST_CASE("each launch takes its own variant") {
  const Unit unit(0x1000, {"k"});
  World world(R"({"k": {"Mneme": {"Variants": [
    {"Pipeline": "default<O1>", "LaunchBounds": false, "SpecializeDims": false,
     "Match": {"Args": [{"Index": 1, "Type": "i32", "Bytes": "10000000"}]}},
    {"Pipeline": "default<O2>", "LaunchBounds": false, "SpecializeDims": false,
     "Match": {"Args": [{"Index": 1, "Type": "i32", "Bytes": "00100000"}]}}]}}})");
  for (const int32_t n : {16, 4096, 20, 3000, 16})
    CHECK(Launch(0x1000, n).run(world.engine) == kTunedStatus);
  REQUIRE(world.requests.size() == 2);
  CHECK(world.requests[0].passes == "default<O1>");
  CHECK(world.requests[1].passes == "default<O2>");
}

TEST_CASE("a variant that does not fit the kernel is left out, and said") {
  const Unit unit(0x1000, {"k"});
  for (const std::string keys :
       {R"("Match": {"Args": [{"Index": 2, "Type": "i32", "Bytes": "00000000"}]})",
        R"("Match": {"Args": [{"Index": 1, "Type": "i64", "Bytes": "0000000000000000"}]})",
        R"("Match": {"Args": [{"Index": 0, "Type": "i64", "Bytes": "0000000000000000"}]})",
        R"("SpecializeArgs": true, "SpecializedArgs": [0])",
        R"("SpecializeArgs": true, "SpecializedArgs": [9])"}) {
    World world(fileWith(keys));
    CHECK(Launch(0x1000).run(world.engine) == kVendorStatus);
    REQUIRE(world.warnings.size() == 1);
    CHECK(world.warnings[0].starts_with("variant 0 of tuned kernel 'k' is not used: "));
  }
}

TEST_CASE("a unit that is unloaded is forgotten; its handles may be other kernels") {
  World world(fileWith(""));
  {
    Unit first(0x1000, {"other"});
    CHECK(Launch(0x1000).run(world.engine) == kVendorStatus);
    first.leave();
    world.engine.forget(first.entry());
  }
  Unit second(0x1000, {"k"});
  CHECK(Launch(0x1000).run(world.engine) == kTunedStatus);
  second.leave();
  world.engine.forget(second.entry());
  CHECK(Launch(0x1000).run(world.engine) == kVendorStatus);
  world.engine.forget(nullptr);
  const Unit third(0x1000, {"k"});
  CHECK(Launch(0x1000).run(world.engine) == kTunedStatus);
  CHECK(world.loaded == 2);
  CHECK(world.loads[1].module == third.entry());
}

TEST_CASE("what was asked for is traced") {
  const Unit unit(0x1000, {"k"});
  World world(R"({"k": {"Mneme": {"Variants": [{"SpecializeArgs": true, )" + launchWith("exact") +
                  "}]}}}",
              {.trace = {.specialization = true, .ir = true, .kernels = true, .cache = true}});
  CHECK(Launch(0x1000, 100).run(world.engine) == kTunedStatus);
  world.device = -1;
  CHECK(Launch(0x1000, 100).run(world.engine) == kVendorStatus);
  world.engine.report();
  REQUIRE(world.traces.size() == 6);
  CHECK(world.traces[0] == "[specialization] k(int*): argument 1 'n' = 100");
  CHECK(world.traces[1] == "[specialization] k(int*): dimensions = 32x1x1, 64x1x1");
  CHECK(world.traces[2] == "[specialization] k(int*): launch bounds = 64x1x1");
  CHECK(world.traces[3] == "[kernel-trace] k(int*) <<<8x1x1, 256x1x1, 0>>> on device 0: variant "
                           "0, fits this launch, launched <<<32x1x1, 64x1x1>>>");
  CHECK(world.traces[4] == "[ir-dump] k(int*)\n; IR");
  CHECK(world.traces[5] == "[cache-stats] launches: 1 tuned, 1 of tuned kernels as built; "
                           "binaries: 1, of these stored before: 0; failed: 0");
  CHECK(world.requests[0].wantIr);
}

TEST_CASE("IR is dumped where the existing tool puts it") {
  const auto before = std::filesystem::current_path();
  const auto folder =
      std::filesystem::temp_directory_path() / ("mneme-jit-dump-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::filesystem::current_path(folder);
  const Unit unit(0x1000, {"k"});
  World world(fileWith(R"("SpecializeArgs": true)"), {.dumpsIr = true});
  Launch(0x1000, 1).run(world.engine);
  Launch(0x1000, 2).run(world.engine);
  size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(".proteus-dump")) {
    CHECK(file.path().filename().string().starts_with("device-jit-"));
    CHECK(file.path().extension() == ".ll");
    ++files;
  }
  std::filesystem::current_path(before);
  std::filesystem::remove_all(folder);
  CHECK(files == 2);
  CHECK(world.warnings.empty());
}

TEST_CASE("turned off, everything goes to the vendor") {
  const Unit unit(0x1000, {"k"});
  World world(fileWith(""));
  CHECK(Launch(0x1000).run(world.engine) == kTunedStatus);
  world.engine.turnOff();
  CHECK(Launch(0x1000).run(world.engine) == kVendorStatus);
}
