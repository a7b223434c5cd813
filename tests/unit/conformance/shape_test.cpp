#include "tests/unit/conformance/support.h"

using namespace conformance;
using mneme::device::LaunchShape;

TEST_CASE("impossible shapes are refused before anything runs") {
  Memory memory(4096);
  Kernel kernel("saxpy");
  const auto codeFor = [&](const LaunchShape& shape) {
    return codeOf(
        [&] { kernel.launch(shape, kPatience, 0, 1.0f, memory.address(), memory.address()); });
  };
  CHECK(codeFor(shapeOf(1, 1)) == ErrorCode::Ok);
  CHECK(codeFor(shapeOf(1, theDevice().description().maxThreadsPerBlock)) == ErrorCode::Ok);
  CHECK(codeFor(shapeOf(0, 1)) == ErrorCode::InvalidArgument);
  CHECK(codeFor(shapeOf(1, 0)) == ErrorCode::InvalidArgument);
  CHECK(codeFor(shapeOf(1, theDevice().description().maxThreadsPerBlock + 1)) ==
        ErrorCode::InvalidArgument);
  LaunchShape shape = shapeOf(1, 64);
  shape.block[1] = 64;
  CHECK(codeFor(shape) == ErrorCode::InvalidArgument);
  shape = shapeOf(1, 1);
  // The CPU device runs launches of HIP too, whose blocks may be deeper.
  shape.block[2] = theDevice().descriptionFor("gfx90a").maxBlock[2] + 1;
  CHECK(codeFor(shape) == ErrorCode::InvalidArgument);
  shape = shapeOf(1, 1);
  shape.grid[1] = 70000;
  CHECK(codeFor(shape) == ErrorCode::InvalidArgument);
  CHECK(codeFor(shapeOf(1, 1, 1 << 30)) == ErrorCode::InvalidArgument);
  CHECK(codeFor(shapeOf(1, 1, theDevice().description().maxSharedPerBlockOptinBytes + 1)) ==
        ErrorCode::InvalidArgument);
  CHECK(theDevice().isUsable());
  CHECK(codeFor(shapeOf(1, 1)) == ErrorCode::Ok);
}

TEST_CASE("shared memory of the code counts too") {
  Memory memory(1 << 20);
  Kernel kernel("reduce");
  const uint64_t most = theDevice().description().maxSharedPerBlockOptinBytes;
  CHECK(codeOf([&] {
          kernel.launch(shapeOf(1, 256, most), kPatience, memory.address(), memory.address());
        }) == ErrorCode::InvalidArgument);
  CHECK(theDevice().isUsable());
}

TEST_CASE("a cooperative launch that cannot be resident is refused where that is a matter") {
  Memory memory(4096);
  Kernel kernel("saxpy");
  LaunchShape shape = shapeOf(100'000, 32); // a GPU has room for some thousands
  shape.isCooperative = true;
  const ErrorCode code =
      codeOf([&] { kernel.launch(shape, kPatience, 0, 1.0f, memory.address(), memory.address()); });
  CHECK((code == ErrorCode::InvalidArgument || code == ErrorCode::Ok));
  CHECK(theDevice().isUsable());
}

TEST_CASE("clusters run where the device has them and are refused elsewhere") {
  Memory x(4 * 256), y(4 * 256);
  y.write(std::vector<float>(256, 1.0f));
  x.write(std::vector<float>(256, 2.0f));
  Kernel kernel("saxpy");
  LaunchShape shape = shapeOf(8, 32);
  shape.cluster[0] = 2;
  const ErrorCode code =
      codeOf([&] { kernel.launch(shape, kPatience, 256, 3.0f, x.address(), y.address()); });
  CHECK((code == ErrorCode::Ok || code == ErrorCode::InvalidArgument));
  if (theDevice().description().maxClusterBlocks >= 2)
    CHECK(code == ErrorCode::Ok);
  if (code == ErrorCode::Ok)
    CHECK(y.read<float>(256) == std::vector<float>(256, 7.0f));
  shape.cluster[0] = 3; // does not divide the grid
  if (theDevice().description().maxClusterBlocks > 1)
    CHECK(codeOf([&] { kernel.launch(shape, kPatience, 256, 3.0f, x.address(), y.address()); }) ==
          ErrorCode::InvalidArgument);
  CHECK(theDevice().isUsable());
}
