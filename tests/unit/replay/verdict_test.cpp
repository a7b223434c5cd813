#include <cmath>
#include <cstdio>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include "tests/unit/replay/kernels.h"
#include "tests/unit/replay/recording_maker.h"

using namespace mneme;
using namespace mneme::test;
using replay::ResultClass;

namespace {

constexpr const char* kStore = "store float %y, ptr %to, align 4";

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<float> readFloats(const Bytes& bytes) {
  std::vector<float> values(bytes.size() / 4);
  std::memcpy(values.data(), bytes.data(), values.size() * 4);
  return values;
}

} // namespace

TEST_CASE("an unmodified kernel is exact, and warm-ups come first in the times") {
  const replay::Result result = replayOnce(scalePlan());
  CHECK(result.error == "");
  CHECK(result.resultClass == ResultClass::Exact);
  CHECK(result.verified);
  CHECK(result.executed);
  CHECK_FALSE(result.failed);
  CHECK(result.execNs.size() == 5);
  CHECK(result.mismatches.empty());
  CHECK(result.objectBytes > 0);
  CHECK(result.device == testDevice());
}

TEST_CASE("every default pipeline and specialisation is exact") {
  TemporaryDirectory directory;
  replay::Session session(writeRecording(directory.path(), scalePlan()), "", testDevice());
  for (const char* level : {"O0", "O1", "O2", "O3", "Os", "Oz"})
    for (int flags = 0; flags < 8; ++flags) {
      replay::Configuration configuration = session.recorded();
      configuration.passes = std::string("default<") + level + ">";
      configuration.specialize = flags & 1;
      configuration.specializeDims = flags & 2;
      configuration.setLaunchBounds = flags & 4;
      const replay::Result result = session.run(configuration, {.iterations = 1, .warmup = 0});
      CAPTURE(level);
      CAPTURE(flags);
      CHECK(result.error == "");
      CHECK(result.resultClass == ResultClass::Exact);
    }
}

TEST_CASE("a specialised kernel has the recorded values as constants") {
  TemporaryDirectory directory;
  replay::Session session(writeRecording(directory.path(), scalePlan()), "", testDevice());
  replay::Configuration configuration = session.recorded();
  configuration.specialize = true;
  const replay::Result result = session.run(configuration, {.wantIr = true});
  CHECK(result.verified);
  CHECK(contains(result.ir, "3.500000e+00"));
}

TEST_CASE(
    "a kernel that reads a clock is unreproducible rather than wrong, and the note says why") {
  const std::string reading = edited(
      edited(kScale, "declare void @llvm.trap()",
             "declare void @llvm.trap()\ndeclare i64 @llvm.nvvm.read.ptx.sreg.clock64()"),
      kStore, "%time = call i64 @llvm.nvvm.read.ptx.sreg.clock64()\n " + std::string(kStore));
  const replay::Result same = replayOnce(scalePlan(), reading);
  CHECK(same.resultClass == ResultClass::Exact);
  CHECK(same.note == "");
  const replay::Result other =
      replayOnce(scalePlan(), edited(reading, "fmul float %x, %factor", "fadd float %x, %factor"));
  CHECK(other.resultClass == ResultClass::Unreproducible);
  CHECK_FALSE(other.verified);
  CHECK(other.mismatches.size() > 0);
  CHECK(contains(other.note, "reads clocks"));
  CHECK(contains(replay::toJson(other), R"("unrecorded_reads":["clocks"])"));
}

TEST_CASE("a kernel that is off by one element is wrong at the right place") {
  const std::string ir =
      edited(kScale, "%to = getelementptr inbounds float, ptr %out, i64 %i",
             "%j = add i64 %i, 1\n %to = getelementptr inbounds float, ptr %out, i64 %j");
  const replay::Result result = replayOnce(scalePlan(), ir);
  CHECK(result.resultClass == ResultClass::Wrong);
  CHECK_FALSE(result.verified);
  CHECK(result.executed);
  REQUIRE(result.mismatches.size() == 2);
  const replay::Mismatch& mismatch = result.mismatches[0];
  CHECK(contains(mismatch.region, "argument 'out' at 0x610000200000"));
  CHECK(mismatch.element == 0);
  CHECK(mismatch.dataType == "f32");
  CHECK(mismatch.differing == 1000);
  CHECK(mismatch.elements == 1000);
  CHECK(contains(mismatch.actual, "-1"));
  CHECK(contains(result.mismatches[1].region, "stray write"));
  CHECK(contains(result.mismatches[1].region, "behind argument 'out'"));
  CHECK(result.mismatches[1].address == kScaleOut + 4000);
}

TEST_CASE("one NaN is found") {
  const std::string ir = edited(kScale, kStore,
                                "%five = icmp eq i64 %i, 5\n"
                                "%z = select i1 %five, float 0x7FF8000000000000, float %y\n"
                                "store float %z, ptr %to, align 4");
  const replay::Result result =
      replayOnce(scalePlan(), ir, {.tolerances = {replay::parseToleranceRule("f32:rel:0.5")}});
  CHECK(result.resultClass == ResultClass::Wrong);
  REQUIRE(result.mismatches.size() == 1);
  CHECK(result.mismatches[0].element == 5);
  CHECK(result.mismatches[0].address == kScaleOut + 20);
  CHECK(result.mismatches[0].differing == 1);
  CHECK(std::isinf(result.maxAbsolute));
}

TEST_CASE("a write between two regions is a stray write") {
  const std::string ir = edited(kScale, "  %y = fmul float %x, %factor",
                                "  %y = fmul float %x, %factor\n"
                                "  %stray = getelementptr i8, ptr %in, i64 4004\n"
                                "  store i8 7, ptr %stray");
  const replay::Result result = replayOnce(scalePlan(), ir);
  CHECK(result.resultClass == ResultClass::Wrong);
  REQUIRE(result.mismatches.size() == 1);
  CHECK(contains(result.mismatches[0].region, "stray write"));
  CHECK(contains(result.mismatches[0].region, "'in'"));
  CHECK(result.mismatches[0].address == kScaleIn + 4004);
  CHECK(result.mismatches[0].differing == 1);
}

TEST_CASE("reads a little outside of the recorded memory find zeros, as often as they come") {
  for (const char* offset : {"-512", "-4", "-30000000", "30000000"}) {
    const std::string ir =
        edited(kScale, "  %y = fmul float %x, %factor",
               "  %aside = getelementptr i8, ptr %in, i64 " + std::string(offset) +
                   "\n  %zero = load volatile float, ptr %aside\n"
                   "  %z = fadd float %x, %zero\n"
                   "  %y = fmul float %z, %factor");
    CAPTURE(offset);
    const replay::Result result = replayOnce(scalePlan(), ir);
    CHECK(result.error == "");
    CHECK(result.resultClass == ResultClass::Exact);
  }
}

TEST_CASE("a write outside of the recorded memory fails, whatever it writes") {
  for (const char* offset : {"-512", "2400000"}) {
    const std::string ir = edited(kScale, "  %y = fmul float %x, %factor",
                                  "  %y = fmul float %x, %factor\n"
                                  "  %stray = getelementptr i8, ptr %" +
                                      std::string(*offset == '-' ? "in" : "out") + ", i64 " +
                                      offset + "\n  store i8 0, ptr %stray");
    CAPTURE(offset);
    const replay::Result result = replayOnce(scalePlan(), ir);
    CHECK(result.failed);
    CHECK(contains(result.error, "can be read, but not written"));
  }
}

TEST_CASE("a read far outside of the recorded memory fails as ever") {
  const std::string ir = edited(kScale, "  %y = fmul float %x, %factor",
                                "  %aside = getelementptr i8, ptr %in, i64 -40000000\n"
                                "  %zero = load volatile float, ptr %aside\n"
                                "  %y = fmul float %zero, %factor");
  CHECK(replayOnce(scalePlan(), ir).failed);
}

TEST_CASE("a sabotaged binary does not spoil the next one") {
  TemporaryDirectory directory;
  replay::Session session(writeRecording(directory.path(), scalePlan()), "", testDevice());
  const std::string stray = edited(kScale, "  %y = fmul float %x, %factor",
                                   "  %y = fmul float %x, %factor\n"
                                   "  %stray = getelementptr i8, ptr %in, i64 4004\n"
                                   "  store i8 7, ptr %stray\n"
                                   "  store float 0.0, ptr %from");
  CHECK(session.run(session.recorded(), {.ir = bytesOfText(stray)}).resultClass ==
        ResultClass::Wrong);
  CHECK(session.run(session.recorded(), {}).resultClass == ResultClass::Exact);
}

TEST_CASE("small differences pass under a tolerance and say how large they are") {
  const std::string ir = edited(kScale, "fmul float %x, %factor",
                                "fmul float %x, 0x400C000020000000"); // 3.5 and one unit more
  const RecordingPlan plan = scalePlan();
  CHECK(replayOnce(plan, ir).resultClass == ResultClass::FewUlp);
  const replay::Result result =
      replayOnce(plan, ir, {.tolerances = {replay::parseToleranceRule("out=f32:ulp:4")}});
  CHECK(result.resultClass == ResultClass::WithinTolerance);
  CHECK(result.verified);
  CHECK(result.maxUlp >= 1);
  CHECK(result.maxUlp <= 4);
  CHECK(result.maxRelative < 1e-6);
  CHECK(result.mismatches.empty());
}

TEST_CASE("the annotation of a buffer is its tolerance") {
  const std::string ir =
      edited(kScale, "fmul float %x, %factor", "fmul float %x, 0x400C000020000000");
  RecordingPlan plan = scalePlan();
  plan.regions[1].region.annotation = {
      .isSet = true, .dataType = 9, .threshold = 1e-6, .thresholdKind = 1, .tag = "result"};
  CHECK(replayOnce(plan, ir).resultClass == ResultClass::WithinTolerance);
  CHECK(replayOnce(plan, ir, {.tolerances = {replay::parseToleranceRule("out=f32:ulp:0")}})
            .resultClass == ResultClass::FewUlp);
}

TEST_CASE("what differs from launch to launch is nondeterministic and suggests a tolerance") {
  const std::string ir = edited(edited(kScale, "define ptx_kernel",
                                       "declare i64 @llvm.nvvm.read.ptx.sreg.clock64()\n"
                                       "define ptx_kernel"),
                                kStore,
                                "%time = call i64 @llvm.nvvm.read.ptx.sreg.clock64()\n"
                                "%low = and i64 %time, 1023\n"
                                "%ticks = uitofp i64 %low to float\n"
                                "%part = fmul float %ticks, 0x3EB0000000000000\n"
                                "%noise = fmul float %part, %y\n"
                                "%z = fadd float %y, %noise\n"
                                "store float %z, ptr %to, align 4");
  const replay::Result result = replayOnce(scalePlan(), ir);
  CHECK(result.resultClass == ResultClass::Nondeterministic);
  CHECK_FALSE(result.verified);
  CHECK(contains(result.suggestion, "out=f32:rel:"));
  const replay::Result tolerant =
      replayOnce(scalePlan(), ir, {.tolerances = {replay::parseToleranceRule("out=f32:rel:1e-2")}});
  CHECK(tolerant.resultClass == ResultClass::Nondeterministic);
  CHECK(tolerant.verified);
  CHECK(tolerant.mismatches.empty());
}

TEST_CASE("no tolerance is suggested where something differs, too, that takes none") {
  const std::string ir = kHead + R"(
declare i64 @llvm.nvvm.read.ptx.sreg.clock64()
define ptx_kernel void @time(ptr %noise, ptr %ticks) {
  %time = call i64 @llvm.nvvm.read.ptx.sreg.clock64()
  %low = and i64 %time, 1023
  %part = uitofp i64 %low to float
  %near = fadd float %part, 1048576.0
  store float %near, ptr %noise, align 4
  %word = trunc i64 %time to i32
  store i32 %word, ptr %ticks, align 4
  ret void
}
)";
  RecordingPlan plan{.kernel = "time", .ir = ir};
  plan.addRegion(kScaleIn, bytesOfOne(0.0f), bytesOfOne(1048576.0f));
  plan.addRegion(kScaleOut, bytesOfOne(1u), bytesOfOne(2u));
  plan.addPointer("noise", kScaleIn);
  plan.addPointer("ticks", kScaleOut);
  plan.block = plan.grid = {1, 1, 1};
  const replay::Result result = replayOnce(plan);
  CHECK(result.resultClass == ResultClass::Nondeterministic);
  CHECK(result.suggestion.empty());
  CHECK_FALSE(contains(result.note, "--tolerance"));
  const replay::Result floating = replayOnce(plan, edited(ir, "store i32 %word", "store i32 2"));
  CHECK(contains(floating.suggestion, "noise=f32:rel:"));
}

TEST_CASE("sums by floating-point atomics are verified within a tolerance only") {
  const uint32_t count = 1 << 16;
  std::vector<float> in(count);
  double sum = 0;
  for (uint32_t i = 0; i < count; ++i)
    sum += in[i] = 1.0f / static_cast<float>(1 + i % 977) * ((i * 7919) % 13 == 0 ? 1e3f : 1.0f);
  RecordingPlan plan{.kernel = "atomicSum", .ir = kAtomicSum};
  plan.addRegion(kScaleIn, bytesOf(in), bytesOf(in));
  plan.addRegion(kScaleOut, bytesOfOne(0.0f), bytesOfOne(static_cast<float>(sum)));
  plan.addPointer("in", kScaleIn);
  plan.addPointer("sum", kScaleOut);
  plan.block = {64, 1, 1};
  plan.grid = {count / 64, 1, 1};
  const replay::Result result = replayOnce(plan);
  CHECK(result.resultClass == ResultClass::Nondeterministic);
  CHECK_FALSE(result.verified);
  const replay::Result tolerant =
      replayOnce(plan, "", {.tolerances = {replay::parseToleranceRule("sum=f32:rel:1e-2")}});
  CHECK(tolerant.verified);
  CHECK(tolerant.mismatches.empty());
  CHECK(readFloats(bytesOf(in)).size() == count);
}

TEST_CASE(
    "what depends on the order of blocks is nondeterministic, however seldom that is another") {
  const std::string ir = edited(kScale, kStore,
                                "%last = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n"
                                "%number = uitofp i32 %last to float\n"
                                "store float %number, ptr %out, align 4");
  const replay::Result result = replayOnce(scalePlan(), ir);
  CHECK(result.resultClass == ResultClass::Nondeterministic);
  CHECK_FALSE(result.verified);
}

TEST_CASE("what is known to be deterministic is not launched again to see whether it is") {
  const std::string ir = edited(kScale, kStore,
                                "%z = fadd float %y, 5.0e-1\n"
                                "store float %z, ptr %to, align 4");
  const replay::Result asked = replayOnce(scalePlan(), ir, {.iterations = 9});
  CHECK(asked.resultClass == ResultClass::Wrong);
  CHECK(asked.launches > 9);
  const replay::Result wrong =
      replayOnce(scalePlan(), ir, {.iterations = 9, .classifyWrong = false});
  CHECK(wrong.resultClass == ResultClass::Wrong);
  CHECK_FALSE(wrong.verified);
  CHECK(wrong.launches == 1);
  CHECK(wrong.execNs.size() == 1);
  CHECK_FALSE(wrong.mismatches.empty());
  const replay::Result near =
      replayOnce(scalePlan(), ir,
                 {.iterations = 9,
                  .warmup = 1,
                  .classifyWrong = false,
                  .tolerances = {replay::parseToleranceRule("out=f32:abs:1")}});
  CHECK(near.resultClass == ResultClass::WithinTolerance);
  CHECK(near.launches == 10);
}

TEST_CASE("what a kernel prints stays off standard output") {
  const std::string ir =
      edited(edited(kScale, "define ptx_kernel",
                    "@text = private constant [4 x i8] c\"hi\\0A\\00\"\n"
                    "declare i32 @vprintf(ptr, ptr)\ndefine ptx_kernel"),
             kStore, std::string(kStore) + "\n%count = call i32 @vprintf(ptr @text, ptr null)");
  TemporaryDirectory directory;
  const std::filesystem::path captured = directory.path() / "stdout";
  std::fflush(stdout);
  const int saved = dup(STDOUT_FILENO), savedError = dup(STDERR_FILENO);
  const int file = open(captured.c_str(), O_CREAT | O_WRONLY, 0600);
  const int errors = open((directory.path() / "stderr").c_str(), O_CREAT | O_WRONLY, 0600);
  dup2(file, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  const replay::Result result = replayOnce(scalePlan(64), ir, {.iterations = 1, .warmup = 0});
  std::fflush(stdout);
  dup2(saved, STDOUT_FILENO);
  dup2(savedError, STDERR_FILENO);
  for (int descriptor : {saved, savedError, file, errors})
    close(descriptor);
  CHECK(result.error == "");
  CHECK(result.resultClass == ResultClass::Exact);
  CHECK(std::filesystem::file_size(captured) == 0);
  CHECK(std::filesystem::file_size(directory.path() / "stderr") >= 2 * 64 * 3);
}
