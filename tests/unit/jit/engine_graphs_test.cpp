#include <doctest/doctest.h>

#include "tests/unit/jit/support.h"

using namespace mneme;
using namespace mneme::jit;
using namespace mneme::jit::test;

namespace {

/// The file of a kernel "k" that is faster with other dimensions, for the launches that `Launch`
/// makes.
const std::string kFile = R"({"k": {"Mneme": {"StaticHash": "0000000000001234", "Variants": [{
  "LaunchBounds": false, "SpecializeDims": false,
  "Match": {"Arch": "sm_90", "GridDim": {"x": 8}, "BlockDim": {"x": 256}, "SharedMem": 0,
            "Args": [{"Index": 1, "Type": "i32", "Bytes": "64000000"}]},
  "Launch": {"Rule": "exact", "GridDim": {"x": 32}, "BlockDim": {"x": 64}}}]}}})";
const tuned::Dims kTuned{{32, 1, 1}, {64, 1, 1}}, kLaunched{{8, 1, 1}, {256, 1, 1}};

void* const kStream = reinterpret_cast<void*>(0x99);

GraphKernel inGraph(Launch& launch) {
  return {.node = &launch,
          .handle = launch.launch.kernel,
          .dims = {launch.launch.grid, launch.launch.block},
          .args = launch.args,
          .mayReshape = true};
}

} // namespace

TEST_CASE("a captured launch is the program's own, and nothing is compiled for it") {
  const Unit unit(0x1000, {"k"});
  World world(kFile);
  world.capturedStream = kStream;
  Launch launch(0x1000);
  launch.launch.stream = kStream;
  CHECK(launch.run(world.engine) == kVendorStatus);
  CHECK(world.compiled == 0);
  launch.launch.stream = nullptr;
  CHECK(launch.run(world.engine) == kTunedStatus);
}

TEST_CASE("executable graphs run tuned kernels, decided as launches are") {
  const Unit unit(0x1000, {"k", "other"});
  World world(kFile);
  Launch known(0x1000), of200(0x1000, 200), untuned(0x1001), foreign(0x7777);
  CHECK(known.run(world.engine) == kTunedStatus);
  for (Launch* one : {&known, &of200, &untuned, &foreign})
    world.inGraph.push_back(inGraph(*one));
  world.inGraph.push_back(inGraph(known));
  world.inGraph.back().mayReshape = false;
  world.engine.graphChanged({});
  CHECK(world.replaced == std::vector{kTuned, kLaunched, kLaunched});
}

TEST_CASE("a graph of a program that has launched nothing yet runs as it was built") {
  const Unit unit(0x1000, {"k"});
  World world(kFile);
  Launch launch(0x1000);
  world.inGraph.push_back(inGraph(launch));
  world.engine.graphChanged({});
  CHECK(world.replaced.empty());
}

TEST_CASE("a graph whose kernels cannot be replaced runs as it was built") {
  const Unit unit(0x1000, {"k"});
  World world(kFile);
  Launch launch(0x1000);
  launch.run(world.engine);
  world.inGraph.push_back(inGraph(launch));
  SUBCASE("refused") { world.refusesLaunch = true; }
  SUBCASE("turned off") { world.engine.turnOff(); }
  world.engine.graphChanged({});
  CHECK(world.replaced.empty());
  CHECK(world.warnings.empty());
}
