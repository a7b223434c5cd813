#include "tests/unit/conformance/support.h"

#include <numeric>

using namespace conformance;

TEST_CASE("a kernel computes, and its time is plausible") {
  constexpr uint32_t kCount = 1'000'003;
  Memory x(4 * kCount), y(4 * kCount);
  std::vector<float> vx(kCount), vy(kCount, 2.0f);
  std::iota(vx.begin(), vx.end(), 0.0f);
  x.write(vx);
  y.write(vy);
  Kernel kernel("saxpy");
  CHECK(kernel.module().argumentSizes() == std::vector<uint64_t>{4, 4, 8, 8});
  const uint64_t ns =
      kernel.launch(shapeOf((kCount + 255) / 256, 256), 0, kCount, 0.5f, x.address(), y.address());
  CHECK(ns > 100);
  CHECK(ns < 10'000'000'000);
  const std::vector<float> result = y.read<float>(kCount);
  for (uint32_t i = 0; i < kCount; ++i)
    if (result[i] != vx[i] * 0.5f + 2.0f)
      FAIL("element " << i);
}

TEST_CASE("threads of a block share memory and meet at barriers") {
  constexpr uint32_t kBlocks = 300;
  Memory in(4 * 256 * kBlocks), out(4 * kBlocks);
  std::vector<float> values(256 * kBlocks);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i % 13);
  in.write(values);
  Kernel kernel("reduce");
  CHECK(kernel.module().attributes().staticSharedBytes >= 1024);
  kernel.launch(shapeOf(kBlocks, 256), kPatience, in.address(), out.address());
  const std::vector<float> sums = out.read<float>(kBlocks);
  for (uint32_t block = 0; block < kBlocks; ++block)
    CHECK(sums[block] ==
          std::accumulate(values.begin() + 256 * block, values.begin() + 256 * (block + 1), 0.0f));
}

TEST_CASE("lanes of a warp shuffle and vote") {
  Memory out(8 * 128);
  Kernel("warp").launch(shapeOf(2, 64), kPatience, out.address());
  const std::vector<uint32_t> words = out.read<uint32_t>(256);
  for (uint32_t i = 0; i < 128; ++i) {
    CHECK(words[2 * i] == 10 * (i % 32 == 31 ? i : i + 1));
    CHECK(words[2 * i + 1] == 0xaaaaaaaa);
  }
}

TEST_CASE("atomic operations lose nothing") {
  Memory out(64);
  Kernel("atomics").launch(shapeOf(500, 128), kPatience, out.address(), out.address() + 8,
                           out.address() + 16);
  CHECK(out.read<uint32_t>(1)[0] == 64000);
  CHECK(out.read<uint32_t>(1, 8)[0] == 63999);
  CHECK(out.read<uint64_t>(1, 16)[0] == 64000ull << 32);
}

TEST_CASE("device variables are where they were placed, constants where the module has them") {
  Memory home(1 << 20);
  const uint64_t place = home.address() + 4096;
  home.write<uint32_t>({100}, 4096);
  Kernel kernel("globals", {{"counter", place, 4}});
  uint64_t counter = 0, limit = 0;
  for (const mneme::device::ModuleGlobal& global : kernel.module().globals()) {
    if (global.name == "counter")
      counter = global.address;
    if (global.name == "limit") {
      CHECK(global.sizeBytes == 16);
      limit = global.address;
    }
  }
  // The modules of GPUs do not list what was compiled in at its place.
  CHECK(
      (counter == place || (counter == 0 && !theDevice().description().target.starts_with("cpu"))));
  REQUIRE(limit != 0);
  kernel.launch(shapeOf(1, 1), kPatience, 2);
  CHECK(home.read<uint32_t>(1, 4096)[0] == 105);
  const uint32_t other = 1000;
  theDevice().copyToDevice(limit + 8, &other, 4);
  kernel.launch(shapeOf(1, 1), kPatience, 2);
  CHECK(home.read<uint32_t>(1, 4096)[0] == 1105);
}

TEST_CASE("device variables nobody placed start as the code says") {
  Kernel kernel("globals");
  uint64_t counter = 0;
  for (const mneme::device::ModuleGlobal& global : kernel.module().globals())
    if (global.name == "counter")
      counter = global.address;
  REQUIRE(counter != 0);
  kernel.launch(shapeOf(1, 1), kPatience, 0);
  uint32_t value = 0;
  theDevice().copyToHost(&value, counter, 4);
  CHECK(value == 10);
}

TEST_CASE("dynamic shared memory goes up to what the device has") {
  Memory out(64);
  Kernel kernel("shared");
  const uint64_t most = theDevice().description().maxSharedPerBlockOptinBytes;
  for (const uint64_t bytes : {uint64_t{4096}, uint64_t{48 * 1024}, uint64_t{100 * 1024}, most}) {
    if (bytes > most)
      continue;
    CAPTURE(bytes);
    const uint32_t words = static_cast<uint32_t>(bytes / 4);
    kernel.launch(shapeOf(1, 128, bytes), kPatience, words, out.address());
    CHECK(out.read<uint64_t>(1)[0] == uint64_t{words} * (words - 1) / 2);
  }
}

TEST_CASE("blocks of a cooperative launch can wait for one another") {
  Memory arrived(64);
  mneme::device::LaunchShape shape = shapeOf(8, 1);
  shape.isCooperative = true;
  Kernel("meet").launch(shape, kPatience, arrived.address());
  CHECK(arrived.read<uint32_t>(1)[0] == 8);
}

TEST_CASE("kernels print") {
  if (isForAmd(theDevice())) {
    MESSAGE("skipped: printing takes ROCm's device libraries");
    return;
  }
  CHECK_NOTHROW(Kernel("prints").launch(shapeOf(1, 1), kPatience, 42));
}

TEST_CASE("several modules live side by side, and an image is not a text") {
  Memory out(4096);
  Kernel first("atomics"), second("warp"), third("atomics");
  second.launch(shapeOf(1, 32), kPatience, out.address());
  third.launch(shapeOf(1, 32), kPatience, out.address(), out.address() + 8, out.address() + 16);
  first.launch(shapeOf(1, 32), kPatience, out.address(), out.address() + 8, out.address() + 16);
  const std::vector<std::byte> text(100, std::byte{'x'});
  CHECK(codeOf([&] { theDevice().load(text, "kernel", {}); }) == ErrorCode::CompileFailed);
  CHECK(theDevice().isUsable());
}
