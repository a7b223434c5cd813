#include <doctest/doctest.h>

#include <fstream>

#include <nlohmann/json.hpp>

#include "runtime/compiler/assembler/tools.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"
#include "runtime/core/embed/containers.h"
#include "runtime/core/embed/device_code.h"
#include "runtime/replay/code_without_ir.h"
#include "runtime/replay/recorded_code.h"
#include "tests/unit/base/temporary_directory.h"

using namespace mneme;
using namespace mneme::replay;

namespace {

std::vector<std::byte> bytesOf(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

const std::string kPtx = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .b64 %rd<3>;
  .reg .f32 %f<4>;
  ld.param.u64 %rd1, [p];
  ld.global.f32 %f1, [%rd1];
  mul.rn.f32 %f2, %f1, %f1;
  st.global.f32 [%rd1], %f2;
  ret;
}
)";

artifact::RecordedImage imageOf(const std::string& form, const std::string& text) {
  return {form, "", "", std::make_shared<const std::vector<std::byte>>(bytesOf(text))};
}

artifact::KernelRecord recordOfTriton() {
  artifact::KernelRecord record;
  record.kernelName = record.demangledName = "k";
  record.arch = "sm_90";
  record.images = {imageOf("cubin", "machine code"), imageOf("ptx", kPtx + '\0')};
  return record;
}

device::Description gpu() {
  device::Description description;
  description.id = "cuda:0";
  description.target = "sm_90";
  return description;
}

Configuration with(const char* llvm) {
  Configuration configuration;
  configuration.llvm = llvm;
  return configuration;
}

} // namespace

TEST_CASE("a configuration chooses between IR and the code that its program's compiler made") {
  const artifact::KernelRecord record = recordOfTriton();
  CHECK_FALSE(ownCode(record, {}, with("")));
  CHECK_FALSE(ownCode(record, {}, with("/another/libmneme_compile.so@0123456789abcdef")));
  CHECK(ownCode(record, {}, with("recorded"))->image == bytesOf("machine code"));
  CHECK(ownCode(record, {}, with("ptx"))->record.codeForm == "ptx");
  artifact::KernelRecord plain = record;
  plain.images.clear();
  CHECK_THROWS_WITH_AS(ownCode(plain, {}, with("ptx")), doctest::Contains("without PTX"), Error);
  plain.codeForm = "cubin";
  CHECK(ownCode(plain, {bytesOf("own")}, with(""))->image == bytesOf("own"));
  CHECK(ownCode(plain, {bytesOf("own")}, with("recorded"))->image == bytesOf("own"));
  CHECK_THROWS_AS(ownCode(plain, {bytesOf("own")}, with("ptx")), Error);
}

TEST_CASE("code that its program's compiler made takes no options of LLVM") {
  Configuration c = with("recorded");
  const OwnCode code = *ownCode(recordOfTriton(), {}, c);
  CHECK(recordedBuild(code, gpu(), c, {}).image == bytesOf("machine code"));
  c.passes = "default<O1>";
  CHECK_THROWS_WITH_AS(recordedBuild(code, gpu(), c, {}),
                       doctest::Contains("'k' shall run as recorded (its code is a cubin)"), Error);
  c = with("recorded");
  c.codegenOpt = 1;
  CHECK_THROWS_WITH_AS(recordedBuild(code, gpu(), c, {}), doctest::Contains("other codegen_opt"),
                       Error);
}

TEST_CASE("PTX takes levels and options of ptxas") {
  Configuration c = with("ptx");
  const OwnCode code = *ownCode(recordOfTriton(), {}, c);
  CHECK(recordedBuild(code, gpu(), c, {}).image == code.image);
  if (compile::findAssembler().kind == compile::AssemblerKind::Driver)
    return;
  c.codegenOpt = 1;
  c.assemblerOptions = "--def-load-cache=cg";
  const compile::Result built = recordedBuild(code, gpu(), c, {});
  CHECK(built.image.at(1) == std::byte{'E'});
  const auto statistics = nlohmann::json::parse(built.statisticsJson);
  CHECK(statistics["reg_usage"].get<unsigned>() > 0);
  CHECK(statistics["obj_size"].get<size_t>() == built.image.size());
  c.assemblerOptions = "--maxrregcount=3";
  CHECK_THROWS_AS(recordedBuild(code, gpu(), c, {}), Error);
}

TEST_CASE("a fat binary takes what its PTX takes, and runs as it is otherwise") {
  artifact::KernelRecord record = recordOfTriton();
  record.images.clear();
  record.codeForm = "fatbin";
  Configuration c;
  c.block = {64, 1, 1};
  const auto fat = embed::withMember({}, bytesOf(kPtx), 80);
  CHECK(recordedBuild({record, fat}, gpu(), c, {}).image == fat);
  c.setLaunchBounds = true;
  const auto image = recordedBuild({record, fat}, gpu(), c, {}).image;
  const std::string text(reinterpret_cast<const char*>(image.data()), image.size());
  CHECK(text.starts_with(".version 8.0"));
  CHECK(text.find("\n.maxntid 64") != std::string::npos);
  const auto newer = embed::withMember({}, bytesOf(kPtx), 100);
  CHECK_THROWS_WITH_AS(recordedBuild({record, newer}, gpu(), c, {}),
                       doctest::Contains("(its code is a fat binary): it can be replayed with"),
                       Error);
}

TEST_CASE("PTX runs on newer GPUs, and says where it does not run") {
  Configuration c = with("ptx");
  const auto runs = [&](const std::string& named, const std::string& target) {
    artifact::KernelRecord record = recordOfTriton();
    std::string text = kPtx;
    text.replace(text.find("sm_90"), 5, named);
    record.images = {imageOf("ptx", text + '\0')};
    device::Description device = gpu();
    device.target = target;
    try {
      recordedBuild(*ownCode(record, {}, c), device, c, {});
      return true;
    } catch (const Error& error) {
      const std::string why = ": it is for " + named + ", and does not run on cuda:0, which is ";
      CHECK(std::string(error.what()).find(why + target) != std::string::npos);
      return false;
    }
  };
  CHECK(runs("sm_80", "sm_90"));
  CHECK(runs("sm_90", "sm_120"));
  CHECK(runs("sm_90a", "sm_90"));
  CHECK(runs("sm_100f", "sm_103"));
  CHECK(runs("sm_80, debug", "sm_90"));
  CHECK_FALSE(runs("sm_100", "sm_90"));
  CHECK_FALSE(runs("sm_90a", "sm_100"));
  CHECK_FALSE(runs("sm_100f", "sm_120"));
}

TEST_CASE("PTX takes launch bounds") {
  Configuration c = with("ptx");
  c.block = {64, 2, 1};
  c.setLaunchBounds = true;
  c.minBlocksPerSm = 4;
  const OwnCode code = *ownCode(recordOfTriton(), {}, c);
  const auto textOf = [&] {
    const auto image = recordedBuild(code, gpu(), c, {}).image;
    return std::string(reinterpret_cast<const char*>(image.data()), image.size());
  };
  CHECK(textOf().find(".entry k(.param .u64 p)\n.maxntid 128\n.minnctapersm 4 {") !=
        std::string::npos);
  c.maxThreads = 256;
  CHECK(textOf().find("\n.maxntid 256\n") != std::string::npos);
  c.maxThreads = 64;
  CHECK_THROWS_WITH_AS(recordedBuild(code, gpu(), c, {}),
                       doctest::Contains("allow 64 threads but the block has 128"), Error);
  Configuration own = with("recorded");
  own.setLaunchBounds = true;
  CHECK_THROWS_WITH_AS(recordedBuild(*ownCode(recordOfTriton(), {}, own), gpu(), own, {}),
                       doctest::Contains("other set_launch_bounds"), Error);
  if (compile::findAssembler().kind == compile::AssemblerKind::Driver)
    return;
  // ptxas obeys them: as many blocks leave a thread no more registers.
  c.maxThreads = 1024;
  c.minBlocksPerSm = 2;
  c.codegenOpt = 2;
  const auto built = recordedBuild(code, gpu(), c, {});
  CHECK(nlohmann::json::parse(built.statisticsJson)["reg_usage"].get<unsigned>() <= 32);
  CHECK(embed::readCubin(built.image)->find("k")->maxThreads == 1024);
}

TEST_CASE("what the program had its driver do counts for ptxas, too") {
  if (compile::findAssembler().kind == compile::AssemblerKind::Driver)
    return;
  Configuration c = with("ptx");
  const auto built = [&](const std::string& line) {
    artifact::KernelRecord record = recordOfTriton();
    record.images = {imageOf("ptx", line + kPtx + '\0')};
    return recordedBuild(*ownCode(record, {}, c), gpu(), c, {}).image;
  };
  const std::string options = "// options of the driver's compiler: 0=24 7=0\n";
  c.assemblerOptions = "--def-load-cache=cg";
  const auto own = built(options), usual = built("");
  CHECK(own != usual);
  c.codegenOpt = 1; // the configuration's counts
  CHECK(built(options) != own);
}

TEST_CASE("machine code for production runs is that of a replay, and made without a GPU") {
  if (compile::findAssembler().kind == compile::AssemblerKind::Driver)
    return;
  test::TemporaryDirectory directory;
  artifact::KernelRecord record = recordOfTriton();
  record.codeForm = "ptx";
  record.images.clear();
  record.modules = {"k.ptx"};
  std::ofstream(directory.path() / "k.ptx") << kPtx;
  std::ofstream(directory.path() / "1.json") << record.toJson();
  Configuration c;
  c.codegenOpt = 1;
  c.assemblerOptions = "--def-load-cache=cg";
  c.maxRegisters = 24;
  const auto code = RecordedCode(directory.path() / "1.json", "").assembled("sm_90", c);
  const OwnCode own = *ownCode(record, {bytesOf(kPtx)}, c);
  CHECK(code == recordedBuild(own, gpu(), c, {}).image);
  c.passes = "default<O1>";
  CHECK_THROWS_AS(RecordedCode(directory.path() / "1.json", "").assembled("sm_90", c), Error);
}

TEST_CASE(
    "code is compiled with the features of the recorded architecture where the device is it") {
  CHECK(architectureOn("sm_90", "sm_90a") == "sm_90a");
  CHECK(architectureOn("sm_100", "sm_90a") == "sm_100");
  CHECK(architectureOn("sm_90", "sm_90") == "sm_90");
  CHECK(architectureOn("sm_9", "sm_90") == "sm_9");
  CHECK(architectureOn("sm_90", "") == "sm_90");
  CHECK(architectureOn("cpu", "cpu1") == "cpu");
}

TEST_CASE("PTX is described by its text, and by what ptxas makes of it where there is one") {
  Configuration c = with("ptx");
  c.maxRegisters = 24;
  const OwnCode code = *ownCode(recordOfTriton(), {}, c);
  const compile::Result text = describedCode(code, "sm_90", c, /*assembles=*/false);
  CHECK(text.assembly.find(".maxnreg 24") != std::string::npos);
  CHECK(text.assembly.back() == '\n'); // without the zero
  CHECK(text.statisticsJson == "{}");
  CHECK_THROWS_WITH_AS(describedCode(code, "sm_80", c, false),
                       doctest::Contains("it is for sm_90, and does not run on sm_80"), Error);
  if (compile::findAssembler().kind == compile::AssemblerKind::Driver)
    return;
  const compile::Result made = describedCode(code, "sm_90", c, /*assembles=*/true);
  CHECK(made.assembly == text.assembly);
  CHECK(made.image.at(1) == std::byte{'E'});
  CHECK(nlohmann::json::parse(made.statisticsJson)["reg_usage"].get<unsigned>() > 0);
  // The program asks the driver for line numbers, and nobody asks ptxas for anything.
  OwnCode lines = code;
  const std::vector<std::byte> asked = bytesOf("// options of the driver's compiler: 13=1\n");
  lines.image.insert(lines.image.begin(), asked.begin(), asked.end());
  CHECK(describedCode(lines, "sm_90", c, true).statisticsJson == "{}");
  CHECK(!describedCode(lines, "sm_90", c, true).assembly.empty());
  c.codegenOpt = 1;
  CHECK_THROWS_WITH_AS(describedCode(lines, "sm_90", c, true),
                       doctest::Contains("13 of CUjit_option"), Error);
}

TEST_CASE(
    "machine code of another generation is refused by the name of the GPU that was asked for") {
  artifact::KernelRecord record = recordOfTriton();
  record.images.clear();
  record.codeForm = "cubin";
  record.arch = "sm_90";
  const OwnCode code{record, readFile(IMAGES "/uses.cubin")};
  CHECK_THROWS_WITH_AS(describedCode(code, "sm_80", {}, false), doctest::Contains("not on sm_80"),
                       Error);
  try {
    describedCode(code, "sm_80", {}, false);
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find("which is") == std::string::npos);
  }
}

TEST_CASE("of a fat binary what a driver would load is described, or its PTX for what PTX takes") {
  artifact::KernelRecord record = recordOfTriton();
  record.images.clear();
  record.codeForm = "fatbin";
  std::vector<std::byte> fat = embed::withMember({}, bytesOf(kPtx), 90);
  const auto described = [&](const Configuration& c) {
    return describedCode(OwnCode{record, fat}, "sm_90", c, false);
  };
  CHECK(described({}).assembly == kPtx);
  fat = embed::withMember(fat, readFile(IMAGES "/uses.cubin"), 90);
  CHECK_THROWS_WITH_AS(described({}), doctest::Contains("there is no such kernel in it"), Error);
  record.kernelName = "uses";
  CHECK(described({}).image == readFile(IMAGES "/uses.cubin"));
  CHECK(described({}).assembly.empty()); // there is PTX, of another kernel
  record.kernelName = "k";
  Configuration c;
  c.codegenOpt = 1;
  CHECK(described(c).assembly == kPtx);
  fat = embed::withMember({}, readFile(IMAGES "/uses.ptx"), 80);
  fat = embed::withMember(fat, readFile(IMAGES "/uses.cubin"), 90);
  record.kernelName = "uses";
  CHECK(described({}).image == readFile(IMAGES "/uses.cubin"));
  CHECK(described({}).assembly.starts_with(".version 8.0\n.target sm_80"));
  record.codeForm = "cubin";
  for (const char* damaged : {"",
                              "\x7f"
                              "ELF",
                              "no code"}) {
    fat = bytesOf(damaged);
    CHECK_THROWS_AS(described({}), Error);
  }
}
