#include "support.h"

using namespace test;

namespace {

struct Shape {
  uint32_t block[3];
};

struct Own {
  int32_t a[4] = {1, 2, 3, 4};
  float b = 0.5f;
};

std::vector<float> execute(const Compiled& compiled, const Shape& shape, int number) {
  constexpr uint32_t kBlocks = 3;
  const size_t threads = size_t(shape.block[0]) * shape.block[1] * shape.block[2];
  std::vector<float> in(threads * 64 + 4096);
  std::vector<float> out(threads * kBlocks, -7.0f);
  for (size_t index = 0; index < in.size(); ++index)
    in[index] = float(index * 37 % 101) / 8;
  mneme::device::LaunchShape launched;
  launched.grid[0] = kBlocks;
  for (int axis = 0; axis < 3; ++axis)
    launched.block[axis] = shape.block[axis];
  launched.dynamicSharedBytes = threads * sizeof(float);
  void* pointers[] = {in.data(), out.data()};
  Own own;
  void* args[] = {&pointers[0], &pointers[1], &number, &own};
  auto outcome = mneme::device::cpu::run(*compiled.image, launched, args, 60);
  REQUIRE_MESSAGE(outcome.fault == mneme::device::cpu::FaultKind::None, outcome.message);
  return out;
}

/// Phases give what fibers give, bit for bit, under every pipeline.
void checkPhases(const std::string& kernel, const std::vector<Shape>& shapes,
                 const std::vector<int>& numbers) {
  const std::string text = kernelText("phases.ll");
  Compiled fibers = compileText(text, kernel, "default<O2>", "{\"fibers_only\": true}");
  REQUIRE(!fibers.isLoop());
  for (const char* passes : kPipelines) {
    Compiled phases = compileText(text, kernel, passes);
    REQUIRE(phases.isLoop());
    for (const Shape& shape : shapes)
      for (int number : numbers) {
        std::vector<float> expected = execute(fibers, shape, number);
        std::vector<float> got = execute(phases, shape, number);
        for (size_t index = 0; index < expected.size(); ++index)
          checkSame(got[index], expected[index],
                    kernel + " " + passes + " n=" + std::to_string(number) + " element " +
                        std::to_string(index));
      }
  }
}

const std::vector<Shape> kShapes = {
    {{1, 1, 1}}, {{37, 1, 1}}, {{8, 4, 2}}, {{3, 5, 7}}, {{256, 1, 1}}};

} // namespace

TEST_CASE("phases: a stencil on a tile") { checkPhases("stencil", {{{16, 16, 1}}}, {16, 9}); }

TEST_CASE("phases: a tree reduction with the barrier in the loop") {
  checkPhases("tree", kShapes, {3});
}

TEST_CASE("phases: a tiled matrix product") { checkPhases("matmul", {{{16, 16, 1}}}, {16, 48}); }

TEST_CASE("phases: threads that end before others meet count as arrived") {
  checkPhases("early", kShapes, {0, 20, 1000});
}

TEST_CASE("phases: a barrier on each side of a uniform condition") {
  checkPhases("choice", kShapes, {0, 1});
}

TEST_CASE("phases: threads that wait at different instructions") {
  checkPhases("apart", kShapes, {1, 4});
}

TEST_CASE("phases: barriers that count and vote") { checkPhases("reducing", kShapes, {3, 12}); }

TEST_CASE("phases: local arrays and pointers to them outlive barriers") {
  checkPhases("locals", kShapes, {0, 5});
}

TEST_CASE("phases: a by-value struct that each thread changes") {
  checkPhases("changedStruct", kShapes, {0, 2});
}

TEST_CASE("phases: functions that are not inlined see their thread") {
  checkPhases("recursive", kShapes, {1});
}

TEST_CASE("barriers that are not the block's barrier 0 need fibers") {
  CHECK(!compileText(kernelText("phases.ll"), "named").isLoop());
}

TEST_CASE("phases of a stencil and of a reduction tree are vectorised") {
  for (const char* kernel : {"stencil", "tree"}) {
    const std::string ir = vectorisedIr(kernelText("phases.ll"), kernel);
    CHECK_MESSAGE(ir.find("fadd <") != std::string::npos, kernel);
  }
}

TEST_CASE(
    "loops that all threads run equally often are computed for neighbouring threads together") {
  const std::string text = kernelText("uniform_loop.ll");
  Compiled plain = compileText(text, "pairs", "default<O2>", "{\"fibers_only\": true}");
  CHECK(plain.header().scratchBytes == 0);
  for (const char* passes : kPipelines) {
    Compiled cut = compileText(text, "pairs", passes);
    CHECK(cut.header().scratchBytes > 0);
    for (const Shape& shape : kShapes)
      for (int number : {0, 1, 50}) {
        std::vector<float> expected = execute(plain, shape, number);
        std::vector<float> got = execute(cut, shape, number);
        for (size_t index = 0; index < expected.size(); ++index)
          checkSame(got[index], expected[index], passes);
      }
  }
  CHECK(vectorisedIr(text, "pairs").find("fdiv <") != std::string::npos);
}

TEST_CASE("sums over every so many-th element are computed for neighbouring threads together") {
  const std::string text = kernelText("strided_sums.ll");
  const auto execute = [](const Compiled& compiled, uint32_t threads, int count) {
    std::vector<float> x(1000), y(1000), out(threads * 3);
    for (size_t index = 0; index < x.size(); ++index)
      x[index] = 1.0f / float(index + 1), y[index] = float(index * 7 % 11) / 10;
    void* pointers[] = {x.data(), y.data(), out.data()};
    int rows = 5;
    launch(compiled, compiled.header().argCount == 5 ? 1 : 3, threads,
           {&pointers[0], &pointers[1], &pointers[2], &count, &rows});
    return out;
  };
  for (const char* kernel : {"stridedSum", "twoSums"}) {
    CAPTURE(kernel);
    const Compiled plain = compileText(text, kernel, "default<O2>", "{\"fibers_only\": true}");
    CHECK(plain.header().scratchBytes == 0);
    for (const char* passes : kPipelines) {
      const Compiled cut = compileText(text, kernel, passes);
      CHECK(cut.header().scratchBytes > 0);
      for (uint32_t threads : {1u, 7u, 8u, 33u, 128u})
        for (int count : {0, 1, 40, 1000}) {
          const std::vector<float> expected = execute(plain, threads, count);
          const std::vector<float> got = execute(cut, threads, count);
          for (size_t index = 0; index < expected.size(); ++index)
            checkSame(got[index], expected[index], passes);
        }
    }
    CHECK(vectorisedIr(text, kernel).find("fmul <") != std::string::npos);
  }
}
