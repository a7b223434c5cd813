#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "runtime/core/base/error.h"
#include "support.h"

using namespace test;

TEST_CASE("loop images run every block once") {
  auto image = loadImage("loop");
  for (uint32_t blocks : {1u, 2u, 7u, 1000u, 40000u}) {
    const Launched result = launch(*image, 0, shapeOf(blocks, 3));
    REQUIRE(result.outcome.message == "");
    for (uint32_t i = 0; i < result.out.size(); ++i)
      REQUIRE(result.out[i] == i * 3);
  }
}

TEST_CASE("grids of three dimensions cover every block") {
  auto image = loadImage("loop");
  LaunchShape shape = shapeOf(5, 2);
  shape.grid[1] = 7;
  shape.grid[2] = 3;
  const Launched result = launch(*image, 0, shape);
  for (uint32_t i = 0; i < result.out.size(); ++i)
    REQUIRE(result.out[i] == i * 3);
}

TEST_CASE("threads of a fiber image know their indices") {
  auto image = loadImage("sync");
  LaunchShape shape = shapeOf(3, 4);
  shape.block[1] = 3;
  shape.block[2] = 5;
  const Launched result = launch(*image, 14, shape);
  REQUIRE(result.outcome.message == "");
  for (uint32_t i = 0; i < result.out.size(); ++i) {
    const uint32_t t = i % 60;
    REQUIRE(result.out[i] == t % 4 + 100 * (t / 4 % 3) + 10000 * (t / 12));
  }
}

TEST_CASE("barriers hold every thread of a block") {
  auto image = loadImage("sync");
  for (uint32_t threads : {1u, 2u, 32u, 64u, 256u, 1024u}) {
    const Launched result = launch(*image, 0, shapeOf(17, threads));
    REQUIRE(result.outcome.message == "");
    const uint32_t expected = 5 * (threads * (threads - 1) / 2) + 10 * threads;
    for (uint32_t value : result.out)
      REQUIRE(value == expected);
  }
}

TEST_CASE("threads that have returned count as arrived") {
  auto image = loadImage("sync");
  const Launched result = launch(*image, 1, shapeOf(5, 100));
  REQUIRE(result.outcome.message == "");
  for (uint32_t i = 0; i < result.out.size(); ++i)
    REQUIRE(result.out[i] == (i % 2 ? 1u : 50u));
}

TEST_CASE("named barriers hold a part of the block") {
  auto image = loadImage("sync");
  const Launched result = launch(*image, 6, shapeOf(2, 128));
  REQUIRE(result.outcome.message == "");
  for (uint32_t i = 0; i < result.out.size(); ++i)
    REQUIRE(result.out[i] == (i % 128 < 64 ? i % 32 * 2 : 0));
}

TEST_CASE("barrier reductions count, and, or") {
  auto image = loadImage("sync");
  const Launched result = launch(*image, 7, shapeOf(3, 48));
  REQUIRE(result.outcome.message == "");
  for (uint32_t value : result.out)
    REQUIRE(value == 16 * 1000 + 100);
}

TEST_CASE("blocks of a cooperative launch meet at a grid barrier") {
  auto image = loadImage("sync");
  LaunchShape shape = shapeOf(37, 64);
  shape.isCooperative = true;
  const Launched result = launch(*image, 10, shape);
  REQUIRE(result.outcome.message == "");
  for (uint32_t i = 0; i < result.out.size(); ++i)
    REQUIRE(result.out[i] == (i / 64 + 4) % 37);
}

TEST_CASE("blocks may wait for earlier blocks") {
  auto image = loadImage("sync");
  const Launched result = launch(*image, 11, shapeOf(500, 32));
  REQUIRE(result.outcome.message == "");
  for (uint32_t i = 0; i < result.out.size(); ++i)
    REQUIRE(result.out[i] == i / 32 + 1);
}

TEST_CASE("impossible shapes are refused") {
  auto image = loadImage("loop");
  CHECK_THROWS_AS(launch(*image, 0, shapeOf(0, 1)), mneme::Error);
  CHECK_THROWS_AS(launch(*image, 0, shapeOf(1, 1025)), mneme::Error);
  LaunchShape shape = shapeOf(1, 1);
  shape.dynamicSharedBytes = 1 << 20;
  CHECK_THROWS_AS(launch(*image, 0, shape), mneme::Error);
}

TEST_CASE("foreign images are refused with a sentence") {
  CHECK_THROWS_WITH_AS(loadImage("wrong_abi"), doctest::Contains("ABI 99"), mneme::Error);
  CHECK_THROWS_WITH_AS(loadImage("no_header"), doctest::Contains("mneme_cpu_image"), mneme::Error);
  const std::vector<std::byte> text(100, std::byte{'x'});
  CHECK_THROWS_WITH_AS(Image::load(text), doctest::Contains("not an ELF"), mneme::Error);
  auto truncated = imageBytes("loop");
  truncated.resize(200);
  CHECK_THROWS_AS(Image::load(truncated), mneme::Error);
}

TEST_CASE("images loaded from equal bytes have globals of their own") {
  auto first = loadImage("globals"), second = loadImage("globals");
  CHECK(&first->header() != &second->header());
  for (auto* image : {first.get(), second.get(), first.get()}) {
    int storage[3][4] = {};
    void* pointer = nullptr;
    image->bindGlobal(0, storage[0]);
    image->bindGlobal(1, storage[1]);
    image->bindGlobal(2, &pointer);
    image->initialiseGlobals({true, true, true});
    CHECK(pointer == &storage[1][3]);
    int out[3] = {};
    int* outPointer = out;
    void* args[] = {&outPointer};
    for (int launches = 0; launches < 3; ++launches) {
      REQUIRE(run(*image, shapeOf(1, 1), args, 0).message == "");
      CHECK(out[0] == 5 + launches);
      CHECK(out[1] == 30);
      CHECK(out[2] == 40);
    }
  }
}

TEST_CASE("several host threads may launch at once") {
  auto image = loadImage("sync");
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        const Launched result = launch(*image, 2, shapeOf(4, 64));
        for (uint32_t k = 0; k < result.out.size(); ++k)
          wrong += result.out[k] != (k / 32 % 2 * 32 * 32 + 496);
      }
    });
  for (auto& thread : threads)
    thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("a forked child has its own workers") {
  auto image = loadImage("sync");
  REQUIRE(launch(*image, 0, shapeOf(8, 64)).outcome.message == "");
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const Launched result = launch(*image, 0, shapeOf(8, 64));
    _exit(result.outcome.fault == FaultKind::None && result.out[5] == 5 * 2016 + 640 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(status == 0);
}
