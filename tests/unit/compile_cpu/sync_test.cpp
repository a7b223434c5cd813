
#include "support.h"

using namespace test;

namespace {

/// One value per lane of a full warp.
std::vector<uint32_t> lanes() {
  std::vector<uint32_t> values(32);
  for (uint32_t lane = 0; lane < 32; ++lane)
    values[lane] = lane;
  return values;
}

template <typename Function>
void checkLanes(const std::string& body, const std::string& declaration, Function expected) {
  auto got = evaluate<uint32_t, uint32_t>(body, {lanes()}, "declare " + declaration);
  for (uint32_t lane = 0; lane < 32; ++lane)
    checkSame(got[lane], uint32_t(expected(lane)), body);
}

} // namespace

TEST_CASE("barriers, shuffles and shared memory add up") {
  for (const char* passes : kPipelines) {
    Compiled compiled = compileText(kernelText("reduction.ll"), "reduction", passes);
    CHECK(compiled.isLoop());
    CHECK(compiled.header().staticSharedBytes == 512);
    std::vector<float> in(128 * 5);
    for (size_t index = 0; index < in.size(); ++index)
      in[index] = float(index);
    float sum = 0;
    void* pointers[] = {in.data(), &sum};
    launch(compiled, 5, 128, {&pointers[0], &pointers[1]}, 512);
    // Every block adds its first element once more, from dynamic shared memory.
    CHECK(sum == 639.0f * 640 / 2 + 128 * (0 + 1 + 2 + 3 + 4));
  }
}

TEST_CASE("shuffles") {
  checkLanes("  %r = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %a, i32 1, i32 31)",
             "i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)",
             [](uint32_t lane) { return lane ^ 1; });
  checkLanes("  %p = call { i32, i1 } @llvm.nvvm.shfl.sync.up.i32p(i32 -1, i32 %a, i32 3, i32 0)\n"
             "  %v = extractvalue { i32, i1 } %p, 0\n  %b = extractvalue { i32, i1 } %p, 1\n"
             "  %z = select i1 %b, i32 100, i32 0\n  %r = add i32 %v, %z",
             "{ i32, i1 } @llvm.nvvm.shfl.sync.up.i32p(i32, i32, i32, i32)",
             [](uint32_t lane) { return lane < 3 ? lane : lane - 3 + 100; });
}

TEST_CASE("votes and matches") {
  checkLanes("  %o = trunc i32 %a to i1\n"
             "  %r = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %o)",
             "i32 @llvm.nvvm.vote.ballot.sync(i32, i1)", [](uint32_t) { return 0xaaaaaaaau; });
  checkLanes("  %o = icmp eq i32 %a, 7\n  %v = call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 %o)\n"
             "  %r = zext i1 %v to i32",
             "i1 @llvm.nvvm.vote.any.sync(i32, i1)", [](uint32_t) { return 1; });
  checkLanes(
      "  %q4 = lshr i32 %a, 3\n  %r = call i32 @llvm.nvvm.match.any.sync.i32(i32 -1, i32 %q4)",
      "i32 @llvm.nvvm.match.any.sync.i32(i32, i32)",
      [](uint32_t lane) { return 0xffu << (lane / 8 * 8); });
  checkLanes("  %p = call { i32, i1 } @llvm.nvvm.match.all.sync.i64p(i32 -1, i64 9)\n"
             "  %m = extractvalue { i32, i1 } %p, 0\n  %b = extractvalue { i32, i1 } %p, 1\n"
             "  %z = zext i1 %b to i32\n  %r = xor i32 %m, %z",
             "{ i32, i1 } @llvm.nvvm.match.all.sync.i64p(i32, i64)",
             [](uint32_t) { return ~0u ^ 1; });
}

TEST_CASE("an operation under a mask without the lane that calls it ends the kernel") {
  const char* operations[][2] = {
      {"call i32 @llvm.nvvm.vote.ballot.sync(i32 2, i1 true)", "vote"},
      {"call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 2, i32 1, i32 0, i32 31)", "shuffle"},
      {"call i32 @llvm.nvvm.match.any.sync.i32(i32 2, i32 1)", "match_any"},
      {"call i32 @llvm.nvvm.redux.sync.add(i32 1, i32 2)", "warp reduction"}};
  for (const auto& [call, name] : operations) {
    Compiled compiled =
        compileText(std::string(kPreamble) + "declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)\n" +
                        "declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)\n" +
                        "declare i32 @llvm.nvvm.match.any.sync.i32(i32, i32)\n" +
                        "declare i32 @llvm.nvvm.redux.sync.add(i32, i32)\n" +
                        "define ptx_kernel void @k(ptr %out) {\n  %r = " + call +
                        "\n  store i32 %r, ptr %out\n  ret void\n}\n",
                    "k");
    uint32_t out = 0;
    void* pointer = &out;
    void* args[] = {&pointer};
    auto outcome = mneme::device::cpu::run(*compiled.image, {}, args, 60);
    CHECK(outcome.fault == mneme::device::cpu::FaultKind::Trap);
    const std::string wanted = std::string("kernel 'k' calls a ") + name +
                               " with mask 0x00000002, which lacks lane 0 that calls it";
    CHECK_MESSAGE(outcome.message.find(wanted) != std::string::npos, outcome.message);
  }
}

TEST_CASE("warp reductions and the active mask") {
  checkLanes("  %r = call i32 @llvm.nvvm.redux.sync.add(i32 %a, i32 -1)",
             "i32 @llvm.nvvm.redux.sync.add(i32, i32)", [](uint32_t) { return 496; });
  checkLanes("  %n = sub i32 5, %a\n  %r = call i32 @llvm.nvvm.redux.sync.min(i32 %n, i32 -1)",
             "i32 @llvm.nvvm.redux.sync.min(i32, i32)", [](uint32_t) { return uint32_t(-26); });
  checkLanes("  %r = call i32 @llvm.nvvm.activemask()", "i32 @llvm.nvvm.activemask()",
             [](uint32_t) { return ~0u; });
}

TEST_CASE("barriers that reduce") {
  checkLanes("  %o = icmp ult i32 %a, 11\n"
             "  %r = call i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 %o)",
             "i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32, i1)",
             [](uint32_t) { return 11; });
  checkLanes("  %o = icmp ult i32 %a, 31\n"
             "  %v = call i1 @llvm.nvvm.barrier.cta.red.and.aligned.all(i32 0, i1 %o)\n"
             "  %r = zext i1 %v to i32",
             "i1 @llvm.nvvm.barrier.cta.red.and.aligned.all(i32, i1)", [](uint32_t) { return 0; });
}

TEST_CASE("a cluster of one block waits for it") {
  const std::string arrive = "void @llvm.nvvm.barrier.cluster.arrive()";
  const std::string wait = "void @llvm.nvvm.barrier.cluster.wait()";
  const auto got = evaluate<uint32_t, uint32_t>(
      "  %g = getelementptr [32 x i32], ptr addrspace(3) @cells, i32 0, i32 %i\n"
      "  store i32 %a, ptr addrspace(3) %g\n  call " +
          arrive + "\n  call " + wait +
          "\n"
          "  call void asm sideeffect \"barrier.cluster.arrive.release.aligned; "
          "barrier.cluster.wait.acquire.aligned;\", \"\"()\n  %o = sub i32 31, %i\n"
          "  %h = getelementptr [32 x i32], ptr addrspace(3) @cells, i32 0, i32 %o\n"
          "  %r = load i32, ptr addrspace(3) %h",
      {lanes()},
      "@cells = internal addrspace(3) global [32 x i32] undef\ndeclare " + arrive + "\ndeclare " +
          wait);
  for (uint32_t lane = 0; lane < 32; ++lane)
    CHECK(got[lane] == 31 - lane);
}

TEST_CASE("scoped atomics wrap around") {
  const std::string declaration = "declare i32 @llvm.nvvm.atomic.inc.gen.i.cta.i32.p0(ptr, i32)\n"
                                  "declare i32 @llvm.nvvm.atomic.max.gen.i.sys.i32.p0(ptr, i32)\n";
  auto got = evaluate<uint32_t, uint32_t>(
      "  %cell = alloca i32\n  store i32 %a, ptr %cell\n"
      "  %old = call i32 @llvm.nvvm.atomic.inc.gen.i.cta.i32.p0(ptr %cell, i32 3)\n"
      "  %new = load i32, ptr %cell\n"
      "  %s = call i32 @llvm.nvvm.atomic.max.gen.i.sys.i32.p0(ptr %cell, i32 2)\n"
      "  %top = load i32, ptr %cell\n  %m = mul i32 %old, 100\n  %n = mul i32 %new, 10\n"
      "  %mn = add i32 %m, %n\n  %r = add i32 %mn, %top",
      {{1, 3, 9}}, declaration);
  CHECK(got == std::vector<uint32_t>{122, 302, 902});
}

TEST_CASE("a block does not see what another left in shared memory") {
  // The second body has a barrier and runs on fibers.
  for (const char* barrier : {"", "  call void @llvm.nvvm.barrier0()\n"})
    for (int launches = 0; launches < 2; ++launches) {
      auto got = evaluate<uint32_t, uint32_t>(
          "  %g = getelementptr [32 x i32], ptr addrspace(3) @more, i32 0, i32 %i\n"
          "  %r = load volatile i32, ptr addrspace(3) %g\n" +
              std::string(barrier) + "  store volatile i32 %a, ptr addrspace(3) %g\n",
          {{5, 6, 7}},
          "@more = internal addrspace(3) global [32 x i32] undef, align 4\n"
          "declare void @llvm.nvvm.barrier0()\n");
      CHECK(got == std::vector<uint32_t>(3, 0xffffffffu));
    }
}

TEST_CASE("shared pointers as integers are offsets") {
  const std::string declarations =
      "@tile = internal addrspace(3) global [4 x i32] undef, align 4\n"
      "@more = internal addrspace(3) global [32 x i32] undef, align 4\n";
  auto got = evaluate<uint32_t, uint32_t>(
      "  %g = getelementptr [32 x i32], ptr addrspace(3) @more, i32 0, i32 %i\n"
      "  store i32 %a, ptr addrspace(3) %g\n"
      "  %w = ptrtoint ptr addrspace(3) %g to i64\n  %n = trunc i64 %w to i32\n"
      "  %v = call i32 asm sideeffect \"ld.shared.u32 $0, [$1];\", \"=r,r,~{memory}\"(i32 %n)\n"
      "  %generic = addrspacecast ptr addrspace(3) %g to ptr\n"
      "  %in = call i1 @llvm.nvvm.isspacep.shared(ptr %generic)\n"
      "  %out2 = call i1 @llvm.nvvm.isspacep.shared(ptr %pa)\n"
      "  %x = zext i1 %in to i32\n  %y = zext i1 %out2 to i32\n"
      "  %s = mul i32 %x, 100\n  %t = add i32 %v, %s\n  %u = mul i32 %y, 1000\n"
      "  %r = add i32 %t, %u",
      {{5, 6, 7}},
      declarations + "declare i1 @llvm.nvvm.isspacep.shared(ptr)\n"
                     "@keep = internal addrspace(3) global i32 undef\n");
  CHECK(got == std::vector<uint32_t>{105, 106, 107});
}

TEST_CASE("constant shared addresses are offsets too") {
  auto got = evaluate<uint32_t, uint32_t>(
      "  %v = add i32 %a, ptrtoint (ptr addrspace(3) @second to i32)\n  %r = add i32 %v, 0",
      {{1000}},
      "@first = internal addrspace(3) global [6 x i32] undef, align 16\n"
      "@second = internal addrspace(3) global [4 x i32] undef, align 16\n"
      "@use = internal addrspace(3) global i32 undef\n");
  // Variables the kernel does not reach take no room.
  CHECK(got[0] == 1000);
}

TEST_CASE("barrier objects complete a phase when all threads have arrived") {
  auto got = evaluate<uint32_t, uint32_t>(
      "  %object = ptrtoint ptr addrspace(3) @object to i32\n"
      "  %first = icmp eq i32 %i, 0\n"
      "  br i1 %first, label %init, label %ready\n"
      "init:\n"
      "  store i32 0, ptr addrspace(3) @sum\n"
      "  call void asm sideeffect \"mbarrier.init.shared.b64 [$0], $1;\", \"r,r\"(i32 %object, i32 "
      "40)\n"
      "  br label %ready\n"
      "ready:\n"
      "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n"
      "  %old = atomicrmw add ptr addrspace(3) @sum, i32 %a monotonic\n"
      "  %token = call i64 asm sideeffect \"mbarrier.arrive.shared.b64 $0, [$1];\", \"=l,r\"(i32 "
      "%object)\n"
      "  br label %wait\n"
      "wait:\n"
      "  %done = call i32 asm sideeffect \"{ .reg .pred p; mbarrier.try_wait.shared.b64 p, [$1], "
      "$2; "
      "selp.u32 $0, 1, 0, p; }\", \"=r,r,l\"(i32 %object, i64 %token)\n"
      "  %isDone = icmp ne i32 %done, 0\n"
      "  br i1 %isDone, label %end, label %wait\n"
      "end:\n"
      "  %r = load i32, ptr addrspace(3) @sum\n",
      {std::vector<uint32_t>(40, 3)},
      "@object = internal addrspace(3) global i64 undef, align 8\n"
      "@sum = internal addrspace(3) global i32 undef, align 4\n"
      "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n");
  for (uint32_t value : got)
    CHECK(value == 120);
}

TEST_CASE("a bulk copy ends the phase of a barrier object when its bytes are there") {
  auto got = evaluate<uint32_t, uint32_t>(
      "  %object = ptrtoint ptr addrspace(3) @object to i32\n"
      "  %buffer = ptrtoint ptr addrspace(3) @buffer to i32\n"
      "  %first = icmp eq i32 %i, 0\n"
      "  br i1 %first, label %init, label %ready\n"
      "init:\n"
      "  call void asm sideeffect \"mbarrier.init.shared::cta.b64 [$0], $1; "
      "fence.mbarrier_init.release.cluster;\", \"r,r\"(i32 %object, i32 1)\n"
      "  call void asm sideeffect \"mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [$0], "
      "160;\", \"r\"(i32 %object)\n"
      "  br label %ready\n"
      "ready:\n"
      "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n"
      "  %last = icmp eq i32 %i, 39\n"
      "  br i1 %last, label %copy, label %wait\n"
      "copy:\n"
      "  call void asm sideeffect "
      "\"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], 160, "
      "[$2];\", \"r,l,r\"(i32 %buffer, ptr %pa, i32 %object)\n"
      "  br label %wait\n"
      "wait:\n"
      "  %done = call i32 asm sideeffect \"{ .reg .pred p; "
      "mbarrier.try_wait.parity.shared::cta.b64 p, [$1], 0; selp.u32 $0, 1, 0, p; }\", "
      "\"=r,r\"(i32 %object)\n"
      "  %isDone = icmp ne i32 %done, 0\n"
      "  br i1 %isDone, label %end, label %wait\n"
      "end:\n"
      "  %at = getelementptr i32, ptr addrspace(3) @buffer, i32 %i\n"
      "  %r = load i32, ptr addrspace(3) %at\n",
      {std::vector<uint32_t>(40, 7)},
      "@object = internal addrspace(3) global i64 undef, align 8\n"
      "@buffer = internal addrspace(3) global [40 x i32] undef, align 16\n"
      "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n");
  for (uint32_t value : got)
    CHECK(value == 7);
}

TEST_CASE("producers arrive at a barrier and go on") {
  // The first warp fills a buffer and returns; the second waits for it.
  auto got = evaluate<uint32_t, uint32_t>(
      "  %isProducer = icmp ult i32 %i, 32\n"
      "  br i1 %isProducer, label %produce, label %consume\n"
      "produce:\n"
      "  %to = getelementptr i32, ptr addrspace(3) @buffer, i32 %i\n"
      "  store i32 %a, ptr addrspace(3) %to\n"
      "  call void asm sideeffect \"bar.arrive 1, 64;\", \"\"()\n"
      "  br label %end\n"
      "consume:\n"
      "  call void asm sideeffect \"bar.sync 1, 64;\", \"\"()\n"
      "  %index = sub i32 63, %i\n"
      "  %from = getelementptr i32, ptr addrspace(3) @buffer, i32 %index\n"
      "  %read = load i32, ptr addrspace(3) %from\n"
      "  br label %end\n"
      "end:\n"
      "  %r = phi i32 [ %a, %produce ], [ %read, %consume ]\n",
      {[] {
        auto values = lanes();
        values.resize(64, 100);
        return values;
      }()},
      "@buffer = internal addrspace(3) global [32 x i32] undef, align 4\n");
  for (uint32_t thread = 32; thread < 64; ++thread)
    CHECK(got[thread] == 63 - thread);
}
