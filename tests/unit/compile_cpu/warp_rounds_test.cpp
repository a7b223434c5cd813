// Lanes that meet, in rounds: they give what fibers give.
#include "support.h"

using namespace test;

namespace {

struct Shape {
  uint32_t block[3];
};

const std::vector<Shape> kShapes = {{{32, 1, 1}}, {{1, 1, 1}},  {{45, 1, 1}}, {{256, 1, 1}},
                                    {{8, 6, 2}},  {{32, 3, 1}}, {{64, 2, 1}}, {{16, 16, 1}}};

struct Outcome {
  std::string message;
  std::vector<int> out;
};

Outcome execute(const Compiled& compiled, const Shape& shape, int number, uint32_t blocks = 2) {
  const size_t threads = size_t(shape.block[0]) * shape.block[1] * shape.block[2];
  std::vector<int> in(threads * blocks + 1024);
  for (size_t index = 0; index < in.size(); ++index)
    in[index] = int(index * index * 37 % 1009);
  Outcome result;
  result.out.resize(threads * blocks, -7);
  mneme::device::LaunchShape launched;
  launched.grid[0] = blocks;
  for (int axis = 0; axis < 3; ++axis)
    launched.block[axis] = shape.block[axis];
  void* pointers[] = {in.data(), result.out.data()};
  void* args[] = {&pointers[0], &pointers[1], &number};
  auto outcome = mneme::device::cpu::run(*compiled.image, launched, args, 60);
  result.message = outcome.message;
  return result;
}

const std::string& text() {
  static const std::string kernels = compiledKernels("warp_rounds");
  return kernels;
}

Compiled onFibers(const std::string& kernel) {
  Compiled fibers = compileText(text(), kernel, "default<O2>", "{\"fibers_only\": true}");
  REQUIRE(!fibers.isLoop());
  return fibers;
}

bool isInRounds(const Compiled& compiled) {
  return compiled.isLoop() && (compiled.header().flags & MNEME_CPU_IMAGE_ROUNDS);
}

/// Rounds give what fibers give, bit for bit, under every pipeline.
void checkRounds(const std::string& kernel, const std::vector<int>& numbers) {
  const Compiled fibers = onFibers(kernel);
  for (const char* passes : kPipelines) {
    const Compiled rounds = compileText(text(), kernel, passes);
    REQUIRE(isInRounds(rounds));
    for (const Shape& shape : kShapes)
      for (int number : numbers) {
        const Outcome expected = execute(fibers, shape, number);
        const Outcome got = execute(rounds, shape, number);
        CAPTURE(kernel);
        CAPTURE(passes);
        CAPTURE(number);
        CAPTURE(shape.block[0]);
        REQUIRE_MESSAGE(expected.message.empty(), expected.message);
        REQUIRE_MESSAGE(got.message.empty(), got.message);
        CHECK(got.out == expected.out);
      }
  }
}

} // namespace

TEST_CASE("rounds: sums and scans of a warp") {
  checkRounds("sumOfWarp", {0, 9});
  checkRounds("scan", {3});
}

TEST_CASE("rounds: a sum of a block in two stages") { checkRounds("sumOfBlock", {0, 20, 500}); }

TEST_CASE("rounds: some lanes under a mask that is not a constant") {
  checkRounds("part", {1, 7, 31});
}

TEST_CASE("rounds: lanes meet on both sides of a branch, and across") {
  checkRounds("sides", {0, 17});
}

TEST_CASE("rounds: lanes that have ended are not waited for") {
  checkRounds("ended", {0, 3});
  checkRounds("early", {0, 5, 40, 77, 100000});
}

TEST_CASE("rounds: loops that warps or lanes run differently often") {
  checkRounds("unevenWarps", {0, 4});
  checkRounds("unevenLanes", {0, 5});
  checkRounds("leaving", {3, 100});
  checkRounds("groups", {0, 1});
}

TEST_CASE("rounds: shuffles of 64 bits, of a part of the warp, from lanes that data tell") {
  checkRounds("widths", {0, 1, 20});
}

TEST_CASE("rounds: tiles of a warp") { checkRounds("tiles", {0, 3}); }

TEST_CASE("rounds: barriers of the block between") {
  checkRounds("barriers", {0, 3});
  checkRounds("apart", {0, 1});
}

TEST_CASE("rounds: lanes that are together") {
  checkRounds("aggregated", {0, 1});
  checkRounds("promised", {0, 3});
}

TEST_CASE("rounds: matches, votes and reductions") {
  checkRounds("matches", {0, 2});
  checkRounds("reductions", {0, 1000});
  checkRounds("voted", {0, 1});
}

TEST_CASE("rounds: local arrays outlive meetings") { checkRounds("locals", {0, 5}); }

TEST_CASE("rounds: code that counts on lanes going in step") { checkRounds("inStep", {0, 1}); }

TEST_CASE("rounds: more places than get loops of their own") { checkRounds("many", {1}); }

TEST_CASE("kernels with very many places where lanes meet stay on fibers") {
  for (const int count : {200, 300}) {
    std::string body;
    for (int index = 0; index < count; ++index)
      body += "  call void @llvm.nvvm.bar.warp.sync(i32 -1)\n";
    const Compiled compiled =
        compileText(std::string(kPreamble) + "declare void @llvm.nvvm.bar.warp.sync(i32)\n" +
                        "define ptx_kernel void @k(ptr %out) {\n" + body +
                        "  store i32 7, ptr %out\n" + "  ret void\n}\n",
                    "k");
    CHECK(isInRounds(compiled) == (count == 200));
  }
}

TEST_CASE("rounds: functions that are not inlined see their thread") {
  checkRounds("recursive", {0, 4});
}

TEST_CASE("rounds end with the sentences that fibers end with") {
  const auto check = [](const char* kernel, const char* sentence) {
    const Compiled fibers = onFibers(kernel);
    for (const char* passes : {"default<O0>", "default<O3>"}) {
      const Compiled rounds = compileText(text(), kernel, passes);
      REQUIRE(isInRounds(rounds));
      for (const Shape& shape : {Shape{{64, 1, 1}}, Shape{{8, 4, 2}}}) {
        const Outcome expected = execute(fibers, shape, 3, 1);
        CHECK_MESSAGE(expected.message.find(sentence) != std::string::npos, expected.message);
        CHECK(execute(rounds, shape, 3, 1).message == expected.message);
      }
    }
  };
  check("wrongMask", "calls a shuffle with mask 0xfffffff7, which lacks lane 3 that calls it");
  check("wrongMaskOfAll", "calls a shuffle with mask 0xfffffff7, which lacks lane 3");
  check("deadlock", "deadlocked in block (0,0,0): 1 of "
                    "32 threads wait at barrier 0; warp 0 waits in a shuffle with mask 0xffffffff "
                    "for lanes 0x00000008");
  check("differentMasks", "deadlocked in block");
}
