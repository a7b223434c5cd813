#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstdio>

#include <dlfcn.h>

#include "runtime/devices/cuda/cuda_driver.h"
#include "support.h"
#include "tests/unit/embed/image_maker.h"

using namespace mneme;
using namespace mneme::device;
using test::Failing;
using test::failureOf;
using test::openFake;

namespace {

std::unique_ptr<Module> loadPtx(Device& device, const std::string& kernel) {
  return device.load(test::bytesOf(test::ptx), kernel, {});
}

LaunchShape shapeOf(uint32_t blocks, uint32_t threads) {
  LaunchShape shape;
  shape.grid[0] = blocks;
  shape.block[0] = threads;
  return shape;
}

/// What a launch of the named kernel ends with.
test::Failure launchFailure(const std::string& kernel, const LaunchShape& shape) {
  const auto device = openFake();
  const auto module = loadPtx(*device, kernel);
  const auto failure = failureOf([&] { device->launch(*module, shape, nullptr, 0); });
  CHECK(device->isUsable());
  return failure;
}

} // namespace

TEST_CASE("a kernel runs and its time is told") {
  const auto device = openFake();
  const auto module = loadPtx(*device, "k");
  CHECK(device->launch(*module, shapeOf(10, 128), nullptr, 10) == 500000);
  CHECK(module->attributes().registers == 32);
  CHECK(module->attributes().staticSharedBytes == 1024);
  CHECK(module->argumentSizes() == std::vector<uint64_t>{8, 8});
  device->flushCaches();
  CHECK(device->launch(*module, shapeOf(10, 128), nullptr, 10) == 500000);
}

TEST_CASE("a launch sets its carve-out of shared memory, where it is another one") {
  const auto device = openFake();
  const auto module = loadPtx(*device, "k");
  const auto seen = reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, "fakeCarveouts"));
  REQUIRE(bool(seen));
  LaunchShape shape = shapeOf(10, 128);
  seen();
  for (const uint32_t wanted : {0, 50, 50, 1, 100, 0, 0}) {
    shape.sharedCarveout = wanted;
    device->launch(*module, shape, nullptr, 10);
  }
  CHECK(seen() == std::string("50 0 100 -1 "));
}

TEST_CASE("a launch sets what is preferred of the cache, where it is something else") {
  const auto device = openFake();
  const auto module = loadPtx(*device, "k");
  const auto seen = reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, "fakeCacheConfigs"));
  REQUIRE(bool(seen));
  LaunchShape shape = shapeOf(10, 128);
  seen();
  for (const CacheConfig wanted : {CacheConfig::None, CacheConfig::Shared, CacheConfig::Shared,
                                   CacheConfig::L1, CacheConfig::Equal, CacheConfig::None}) {
    shape.cacheConfig = wanted;
    device->launch(*module, shape, nullptr, 10);
  }
  CHECK(seen() == std::string("1 2 3 0 "));
}

TEST_CASE("a carve-out is set again behind another preference of the cache") {
  const auto device = openFake();
  const auto module = loadPtx(*device, "k");
  const auto seen = reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, "fakeCarveouts"));
  REQUIRE(bool(seen));
  LaunchShape shape = shapeOf(10, 128);
  shape.sharedCarveout = 50;
  seen();
  for (const CacheConfig wanted :
       {CacheConfig::None, CacheConfig::L1, CacheConfig::L1, CacheConfig::None}) {
    shape.cacheConfig = wanted;
    device->launch(*module, shape, nullptr, 10);
  }
  CHECK(seen() == std::string("50 50 50 "));
}

TEST_CASE("the variables of a loaded cubin have the driver's addresses") {
  const auto device = openFake();
  const auto module = device->load(embed::test::cubinWith(), "k", {});
  CHECK(module->argumentSizes() == std::vector<uint64_t>{8, 4, 24});
  const auto globals = module->globals();
  REQUIRE(globals.size() == 1); // the driver does not name the other
  CHECK(globals[0].name == "coefficients");
  CHECK(globals[0].address == 0x7000);
  CHECK(globals[0].isConstant);
}

TEST_CASE("the driver compiles PTX by the options in its first line") {
  const auto device = openFake();
  const auto seen = reinterpret_cast<uint64_t (*)(int)>(dlsym(RTLD_DEFAULT, "fakeJitOption"));
  REQUIRE(bool(seen));
  // What the driver was told of registers, the level and the target; 999: nothing.
  const auto load = [&](const std::string& options) {
    device->load(test::bytesOf("// options of the driver's compiler:" + options + "\n" + test::ptx),
                 "k", {});
    return std::array{seen(0), seen(7), seen(9)};
  };
  using Seen = std::array<uint64_t, 3>;
  CHECK(load(" 0=32 7=1 9=90") == Seen{32, 1, 90});
  CHECK(load(" 9=65626") == Seen{999, 999, 0x1005a}); // sm_90a
  CHECK(load(" 7=1 9=80") == Seen{999, 1, 999});      // recorded on another GPU
  loadPtx(*device, "k");
  CHECK(seen(7) == 999);
}

TEST_CASE("images that do not load say why") {
  const auto device = openFake();
  CHECK(failureOf([&] { loadPtx(*device, "missing"); }).says("the image has no kernel 'missing'"));
  CHECK(failureOf([&] {
          device->load(test::bytesOf("nonsense"), "k", {});
        }).says("neither a fat binary nor a cubin nor PTX text"));
  {
    const Failing failing("cuModuleLoadDataEx=218");
    const auto failure = failureOf([&] { loadPtx(*device, "k"); });
    CHECK(failure.code == ErrorCode::CompileFailed);
    CHECK(failure.says("218): ptxas: line 7: what is this?"));
  }
  const Failing failing("cuModuleLoadDataEx=209");
  const std::string text = ".version 8.0\n.target sm_80\n";
  const auto failure = failureOf([&] { device->load(test::bytesOf(text), "k", {}); });
  CHECK(failure.code == ErrorCode::CompileFailed);
  CHECK(failure.says("the image is for sm_80, device cuda:0 (Fake GPU 0) is sm_90"));
}

TEST_CASE("a block with more registers than there are is refused with the numbers") {
  const auto failure = launchFailure("fat", shapeOf(1, 1024));
  CHECK(failure.code == ErrorCode::InvalidArgument);
  CHECK(failure.says("1024 threads of 128 registers need 131072, a block of Fake GPU 0 has 65536"));
}

TEST_CASE("shapes no device could run are refused") {
  CHECK(launchFailure("k", shapeOf(0, 32)).code == ErrorCode::InvalidArgument);
  CHECK(launchFailure("k", shapeOf(1, 2048)).code == ErrorCode::InvalidArgument);
  LaunchShape shape = shapeOf(1, 32);
  shape.dynamicSharedBytes = 232448;
  CHECK(launchFailure("k", shape).says("1024 static and 232448 dynamic bytes"));
}

TEST_CASE("a cooperative grid must fit on the GPU at once") {
  LaunchShape shape = shapeOf(8, 32);
  shape.isCooperative = true;
  CHECK(launchFailure("k", shape).message.empty());
  shape.grid[0] = 9;
  const auto failure = launchFailure("k", shape);
  CHECK(failure.code == ErrorCode::InvalidArgument);
  CHECK(failure.says("has 9 blocks, which must all run at once, but only 8"));
}

TEST_CASE("clusters must divide the grid and fit") {
  LaunchShape shape = shapeOf(8, 32);
  shape.cluster[0] = 4;
  CHECK(launchFailure("k", shape).message.empty());
  shape.grid[0] = 6;
  CHECK(launchFailure("k", shape).says("grid (6, 1, 1) is not a multiple of cluster (4, 1, 1)"));
  shape.grid[0] = 32;
  shape.cluster[0] = 32;
  CHECK(launchFailure("k", shape).says("has at most 16 in a cluster"));
  shape.cluster[0] = 16;
  CHECK(launchFailure("k", shape).says("at most 8 blocks do"));
  shape.cluster[0] = 4;
  CHECK(launchFailure("clustered", shape).says("was compiled for clusters of (2, 1, 1)"));
  CHECK(launchFailure("clustered", shapeOf(3, 32)).says("is not a multiple of cluster (2, 1, 1)"));
}

TEST_CASE("what the driver refuses did not run") {
  const auto failure = launchFailure("refused", shapeOf(1, 32));
  CHECK(failure.code == ErrorCode::InvalidArgument);
  CHECK(failure.says("launching kernel 'refused' with grid (1, 1, 1) and block (32, 1, 1) failed"));
}

TEST_CASE("child: runs kernels that fail" * doctest::skip()) {
  const auto device = openFake();
  const uint64_t address = device->reserve(0, 1 << 20);
  device->map(address, 1 << 20);
  const auto staging = device->makeStaging(4096);
  const auto good = loadPtx(*device, "k");
  const auto bad = loadPtx(*device, getenv("TEST_KERNEL"));
  const auto failure = failureOf([&] { device->launch(*bad, shapeOf(1, 32), nullptr, 0.05); });
  std::printf("%d %s\n", static_cast<int>(failure.code), failure.message.c_str());
  std::printf("usable: %d\n", device->isUsable());
  std::printf("%s\n", failureOf([&] {
                        device->launch(*good, shapeOf(1, 32), nullptr, 1);
                      }).message.c_str());
  device->unmap(address, 1 << 20);
  device->release(address, 1 << 20);
}

TEST_CASE("a fault takes the device, and the sentence is the driver's") {
  const std::string output =
      test::outputOfChild("child: runs kernels that fail", "TEST_KERNEL", "illegal");
  CHECK(output.find("9 kernel 'illegal' failed: an illegal memory access was encountered "
                    "(CUDA_ERROR_ILLEGAL_ADDRESS, 700)\nusable: 0\n") != std::string::npos);
  CHECK(output.find("lost to an earlier failure") != std::string::npos);
  CHECK(output.find("SUCCESS") != std::string::npos);
}

TEST_CASE("a kernel that never ends costs its time limit, and nothing waits for it") {
  const auto start = std::chrono::steady_clock::now();
  const std::string output =
      test::outputOfChild("child: runs kernels that fail", "TEST_KERNEL", "hang");
  CHECK(output.find("9 kernel 'hang' ran longer than 0.05 s") != std::string::npos);
  CHECK(output.find("usable: 0\n") != std::string::npos);
  CHECK(output.find("would wait") == std::string::npos);
  CHECK(output.find("killed by a signal") == std::string::npos);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(60));
}
