// Threads of HIP programs that work together: waves of 64 and 32 lanes, blocks, grids.
#include "support.h"

#include <numeric>

using namespace test;

namespace {

/// As compiled for a device whose waves have that many lanes.
std::string waves(unsigned lanes, const char* file = "waves") {
  std::string text = compiledKernels(file);
  const std::string feature = "+wavefrontsize";
  for (size_t at = 0; (at = text.find(feature, at)) != std::string::npos; at += feature.size())
    text.replace(at + feature.size(), 2, std::to_string(lanes));
  return text;
}

uint64_t power3(unsigned rounds, const std::vector<uint64_t>& together) {
  uint64_t result = 0;
  for (unsigned round = 0; round < rounds; ++round)
    result = result * 3 + together[round];
  return result;
}

} // namespace

TEST_CASE("AMDGCN: a reduction in shared memory runs in phases") {
  for (const char* passes : kPipelines) {
    Compiled compiled = compileText(compiledKernels("waves"), "reduction", passes);
    CHECK(compiled.isLoop());
    CHECK(compiled.header().staticSharedBytes == 1024);
    std::vector<float> in(4 * 256), out(4);
    std::iota(in.begin(), in.end(), 1.0f);
    void* pointers[] = {in.data(), out.data()};
    launch(compiled, 4, 256, {&pointers[0], &pointers[1]});
    for (unsigned block = 0; block < 4; ++block)
      CHECK(out[block] == std::accumulate(&in[block * 256], &in[block * 256] + 256, 0.0f));
  }
}

TEST_CASE("AMDGCN: dynamic shared memory lies behind the static one") {
  Compiled compiled = compileText(compiledKernels("waves"), "dynamicShared");
  std::vector<uint32_t> out(100);
  void* pointer = out.data();
  launch(compiled, 1, 100, {&pointer}, 400);
  for (uint32_t t = 0; t < 100; ++t)
    CHECK(out[t] == (99 - t) * 3 + 100 + (t & 3));
}

TEST_CASE("AMDGCN: lanes of a wave exchange values") {
  for (unsigned size : {64u, 32u})
    for (const char* passes : {"default<O0>", "default<O3>"}) {
      CAPTURE(size);
      Compiled compiled = compileText(waves(size), "lanes", passes);
      constexpr uint32_t threads = 128;
      std::vector<uint64_t> out(12 * threads);
      void* pointer = out.data();
      launch(compiled, 1, threads, {&pointer});
      for (uint32_t t = 0; t < threads; ++t) {
        CAPTURE(t);
        const uint64_t* mine = &out[12 * t];
        const uint32_t lane = t % size, first = t - lane, inRow = lane % 16;
        uint64_t thirds = 0;
        for (uint32_t other = 0; other < size; ++other)
          thirds |= uint64_t((first + other) % 3 == 0) << other;
        CHECK(mine[0] == lane);
        CHECK(mine[1] == size);
        CHECK(mine[2] == (first + (lane + 5) % size) * 10);
        CHECK(mine[3] == thirds);
        CHECK(mine[4] == first + 7);
        CHECK(mine[5] == first + 9);
        CHECK(mine[6] == (t ^ 1));
        CHECK(mine[7] == (inRow ? t - 1 : 0xffffffffu));
        CHECK(mine[8] == (t ^ 3));
        CHECK(mine[9] == (t ^ 1));
        CHECK(mine[10] == 1000 + (std::min(lane, 32u) + 1) / 2);
        CHECK(mine[11] == (lane / 16 % 2 ? t - inRow - 1 : 77));
      }
    }
}

TEST_CASE("AMDGCN: lanes that went different ways come together where the ways do") {
  for (unsigned size : {64u, 32u})
    for (const char* passes : {"default<O0>", "default<O2>", "default<O3>"}) {
      CAPTURE(size);
      CAPTURE(std::string(passes));
      Compiled compiled = compileText(waves(size), "divergent", passes);
      constexpr uint32_t threads = 64;
      std::vector<uint32_t> rounds(threads);
      for (uint32_t t = 0; t < threads; ++t)
        rounds[t] = t % 5;
      std::vector<uint64_t> out(3 * threads);
      void* pointers[] = {rounds.data(), out.data()};
      launch(compiled, 1, threads, {&pointers[0], &pointers[1]});
      const uint64_t all = size == 64 ? ~0ull : 0xffffffffull;
      for (uint32_t t = 0; t < threads; ++t) {
        CAPTURE(t);
        std::vector<uint64_t> together(5);
        const uint32_t first = t - t % size;
        for (uint32_t other = first; other < first + size; ++other)
          for (uint32_t round = 0; round < rounds[other]; ++round)
            ++together[round];
        CHECK(out[3 * t] == power3(rounds[t], together));
        CHECK(out[3 * t + 1] == (all & (t % 2 ? 0xaaaaaaaaaaaaaaaaull : 0x5555555555555555ull)));
        CHECK(out[3 * t + 2] == all);
      }
    }
}

TEST_CASE("AMDGCN: lanes of different iterations are not together") {
  constexpr uint32_t threads = 64;
  uint32_t rounds = 6;
  for (unsigned size : {64u, 32u})
    for (const char* passes : kPipelines) {
      CAPTURE(size);
      CAPTURE(std::string(passes));
      std::vector<uint64_t> out(threads), expected(threads);
      void* pointer = out.data();
      Compiled compiled = compileText(waves(size, "divergence"), "alternating", passes);
      launch(compiled, 1, threads, {&pointer, &rounds});
      CHECK(out == std::vector<uint64_t>(threads, (100 * 100 + 100 + 1) * size / 2));

      Compiled nested = compileText(waves(size, "divergence"), "nested", passes);
      launch(nested, 1, threads, {&pointer, &rounds});
      for (uint32_t first = 0; first < threads; first += size)
        for (uint32_t round = 0; round < rounds; ++round) {
          std::vector<uint32_t> lanes, outer;
          for (uint32_t t = first; t < first + size; ++t)
            if ((t + round) % 3 != 0)
              outer.push_back(t);
          lanes = outer;
          for (uint32_t inner = 0; !lanes.empty(); ++inner) {
            std::erase_if(lanes, [&](uint32_t t) { return inner >= (t & 3); });
            for (uint32_t t : lanes)
              expected[t] = expected[t] * 31 + lanes.size();
            std::erase_if(lanes, [&](uint32_t t) { return expected[t] % 7 == t % 7; });
          }
          for (uint32_t t : outer)
            expected[t] = expected[t] * 17 + outer.size();
        }
      CHECK(out == expected);
    }
}

TEST_CASE("AMDGCN: lanes in different functions reached by pointers are not together") {
  for (const char* passes : kPipelines) {
    CAPTURE(std::string(passes));
    Compiled compiled = compileText(waves(64, "divergence"), "byPointer", passes);
    const auto storage = bindGlobals(compiled);
    uint32_t rounds = 6; // of which lanes take part in two or four
    std::vector<uint64_t> out(64);
    void* pointer = out.data();
    launch(compiled, 1, 64, {&pointer, &rounds});
    for (uint32_t t = 0; t < 64; ++t) {
      CAPTURE(t);
      const uint64_t together = t % 2 ? 0 : t & 2 ? 0x4444444444444444u : 0x1111111111111111u;
      CHECK(out[t] == together * (t & 2 ? 4 : 40));
    }
  }
}

TEST_CASE("AMDGCN: atomics in global and shared memory, of every scope") {
  Compiled compiled = compileText(compiledKernels("waves"), "atomics");
  std::vector<uint32_t> counts(2);
  float sum = 0;
  uint32_t oldest = 0;
  void* pointers[] = {counts.data(), &sum, &oldest};
  launch(compiled, 5, 96, {&pointers[0], &pointers[1], &pointers[2]});
  CHECK(counts[0] == 3 * 96);
  CHECK(counts[1] == 2 * 96);
  CHECK(sum == 240.0f);
  CHECK(oldest >= 1);
  CHECK(oldest <= 96);
}

/// As in ROCm's device libraries (ockl/src/cg.cl), without a name that says what it is.
constexpr const char* kGridSync = R"(
declare void @llvm.amdgcn.ds.gws.barrier(i32, i32)
define internal void @__ockl_grid_sync() alwaysinline convergent {
  fence syncscope("agent") seq_cst
  call void @llvm.amdgcn.s.barrier()
  %thread = call i32 @llvm.amdgcn.workitem.id.x()
  %first = icmp eq i32 %thread, 0
  br i1 %first, label %arrive, label %end
arrive:
  call void @llvm.amdgcn.ds.gws.barrier(i32 5, i32 0)
  br label %end
end:
  call void @llvm.amdgcn.s.barrier()
  ret void
}
)";

void checkGridWide(const std::string& text) {
  Compiled compiled = compileText(text, "gridWide");
  constexpr uint32_t blocks = 6;
  std::vector<uint32_t> cells(2 * blocks), out(blocks), expected(blocks);
  std::iota(cells.begin(), cells.begin() + blocks, 1);
  std::iota(cells.begin() + blocks, cells.end(), 1);
  std::iota(expected.begin(), expected.end(), 1);
  for (unsigned round = 0; round < 5; ++round) {
    const std::vector<uint32_t> before = expected;
    for (uint32_t block = 0; block < blocks; ++block)
      expected[block] += before[(block + 1) % blocks];
  }
  void* pointers[] = {cells.data(), out.data()};
  launch(compiled, blocks, 33, {&pointers[0], &pointers[1]}, 0, true);
  CHECK(out == expected);
}

TEST_CASE("AMDGCN: threads of a block and of the grid are counted and wait for each other") {
  Compiled counting = compileText(compiledKernels("waves"), "blockCount");
  std::vector<int> counts(90);
  void* pointer = counts.data();
  launch(counting, 1, 90, {&pointer});
  for (int count : counts)
    CHECK(count == 23);

  checkGridWide(compiledKernels("waves"));
}

TEST_CASE("AMDGCN: blocks wait for each other where the library's barrier is compiled in") {
  std::string text = compiledKernels("waves");
  const std::string declaration = "declare hidden void @__ockl_grid_sync()";
  const size_t at = text.find(declaration);
  REQUIRE(at != std::string::npos);
  text.replace(at, text.find('\n', at) - at, kGridSync);
  for (size_t call; (call = text.find("@__ockl_grid_sync(")) != std::string::npos;)
    text.replace(call, sizeof("@__ockl_grid_sync") - 1, "@inlined_sync");
  checkGridWide(text);
}

TEST_CASE("AMDGCN: library functions keep the bodies in which an optimizer left parameters out") {
  const std::string text = compiledKernels("waves") + R"(
define internal i64 @__ockl_get_num_groups() noinline {
  ret i64 7
}
define internal i32 @__ockl_wgred_or_i32() noinline {
  ret i32 5
}
define internal float @__ocml_pow_f32(float %x) noinline {
  %square = fmul float %x, %x
  ret float %square
}
define amdgpu_kernel void @altered(ptr addrspace(1) %out) {
  %groups = call i64 @__ockl_get_num_groups()
  %sum = call i32 @__ockl_wgred_or_i32()
  %square = call float @__ocml_pow_f32(float 3.0)
  %number = trunc i64 %groups to i32
  %whole = fptosi float %square to i32
  %first = add i32 %number, %sum
  %all = add i32 %first, %whole
  store i32 %all, ptr addrspace(1) %out
  ret void
}
)";
  for (const char* passes : {"default<O0>", "default<O3>"}) {
    Compiled compiled = compileText(text, "altered", passes);
    uint32_t out = 0;
    void* pointer = &out;
    launch(compiled, 1, 1, {&pointer});
    CHECK(out == 7 + 5 + 9);
  }
}

TEST_CASE("AMDGCN: groups within a wave wait at their fences") {
  for (const char* passes : {"default<O0>", "default<O3>"}) {
    Compiled compiled = compileText(waves(64), "tiles", passes);
    std::vector<uint32_t> out(128);
    void* pointer = out.data();
    launch(compiled, 1, 128, {&pointer});
    for (uint32_t t = 0; t < 128; ++t)
      CHECK(out[t] == (t & ~15u) * 16 + 120);
  }
}
