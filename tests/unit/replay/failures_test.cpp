#include <doctest/doctest.h>

#include "runtime/core/base/error.h"
#include "tests/unit/replay/kernels.h"
#include "tests/unit/replay/recording_maker.h"

using namespace mneme;
using namespace mneme::test;
using replay::ResultClass;

namespace {

/// One session, many ways to fail; after each the unmodified kernel is still exact.
struct Bench {
  TemporaryDirectory directory;
  replay::Session session{writeRecording(directory.path(), scalePlan()), "", "cpu"};

  replay::Result fail(const replay::Configuration& configuration, const replay::Options& options,
                      const std::string& sentencePart) {
    const replay::Result result = session.run(configuration, options);
    CHECK(result.failed);
    CHECK_FALSE(result.verified);
    CHECK(result.resultClass == ResultClass::Failed);
    CHECK_MESSAGE(result.error.find(sentencePart) != std::string::npos, result.error);
    CHECK(session.run(session.recorded(), {}).resultClass == ResultClass::Exact);
    return result;
  }
  replay::Result failIr(const std::string& ir, const std::string& sentencePart,
                        double timeoutSeconds = 0) {
    return fail(session.recorded(), {.timeoutSeconds = timeoutSeconds, .ir = bytesOfText(ir)},
                sentencePart);
  }
};

const char* const kLoad = "%x = load float, ptr %from, align 4";

} // namespace

TEST_CASE("configurations no device can run fail with a sentence, and nothing ran") {
  Bench bench;
  replay::Configuration configuration = bench.session.recorded();
  configuration.block = {2048, 1, 1};
  CHECK_FALSE(bench.fail(configuration, {}, "2048").executed);
  configuration = bench.session.recorded();
  configuration.grid = {0, 1, 1};
  CHECK_FALSE(bench.fail(configuration, {}, "grid").executed);
  configuration = bench.session.recorded();
  configuration.sharedBytes = 1 << 30;
  CHECK_FALSE(bench.fail(configuration, {}, "shared").executed);
  configuration = bench.session.recorded();
  configuration.setLaunchBounds = true;
  configuration.maxThreads = 32;
  CHECK_FALSE(bench.fail(configuration, {}, "launch bounds").executed);
}

TEST_CASE("unknown passes and malformed IR fail with the compiler's sentence") {
  Bench bench;
  replay::Configuration configuration = bench.session.recorded();
  configuration.passes = "function(no-such-pass)";
  bench.fail(configuration, {}, "no-such-pass");
  bench.failIr("define void @scale( {", "");
  bench.failIr(edited(kScale, "@scale(", "@other("), "scale");
}

TEST_CASE("a kernel with other arguments is refused before it runs") {
  Bench bench;
  bench.failIr(edited(kScale, "(ptr %in, ptr %out, i32 %n, float %factor)",
                      "(ptr %in, ptr %out, i32 %n, float %factor, i32 %more)"),
               "5 arguments");
  bench.failIr(
      edited(edited(kScale, "i32 %n, float", "i64 %n64, float"), "%n64 = sext i32 %n to i64", ""),
      "argument 2");
}

TEST_CASE("a launch without a limit of its own may take long, not for ever") {
  CHECK(replay::defaultTimeoutSeconds(0, false) == 60);
  CHECK(replay::defaultTimeoutSeconds(1'000'000, false) == 60);
  CHECK(replay::defaultTimeoutSeconds(1'000'000'000, false) == doctest::Approx(1000));
  CHECK(replay::defaultTimeoutSeconds(1'000'000, true) == doctest::Approx(100));
}

TEST_CASE("faults, traps and timeouts are the kernel's failure, and the session goes on") {
  Bench bench;
  bench.failIr(edited(kScale, kLoad,
                      std::string(kLoad) + "\n%far = getelementptr i8, ptr %in, "
                                           "i64 67108864\n store i8 1, ptr %far"),
               "0x610004000000");
  bench.failIr(edited(kScale, kLoad, std::string(kLoad) + "\ncall void @llvm.trap()"), "trap");
  const std::string endless = edited(kScale, "then:\n",
                                     "then:\n  br label %spin\nspin:\n"
                                     "  %v = load volatile i32, ptr %in\n"
                                     "  %never = icmp eq i32 %v, 123456789\n"
                                     "  br i1 %never, label %go, label %spin\ngo:\n");
  bench.failIr(endless, "", 0.3);
}

TEST_CASE("a tolerance for a region that is not there is refused") {
  Bench bench;
  bench.fail(bench.session.recorded(),
             {.tolerances = {replay::parseToleranceRule("nope=f32:abs:1")}}, "nope");
}

TEST_CASE("record ids are checked") {
  TemporaryDirectory directory;
  const auto record = writeRecording(directory.path(), scalePlan());
  CHECK_NOTHROW(replay::Session(record, "42", "cpu"));
  const auto code = [&](const std::filesystem::path& path, const std::string& id) {
    try {
      replay::Session session(path, id, "cpu");
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::Ok;
  };
  CHECK(code(record, "43") == ErrorCode::NotFound);
  CHECK(code(record.string() + ".not", "") == ErrorCode::NotFound);
  std::filesystem::remove(directory.path() / artifact::KernelRecord::load(record).modules.front());
  CHECK(code(record, "") == ErrorCode::NotFound);
}
