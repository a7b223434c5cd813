#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "runtime/compiler/assembler/assembler.h"
#include "runtime/compiler/assembler/ptx_version.h"
#include "runtime/compiler/assembler/remembering.h"
#include "runtime/compiler/assembler/usage.h"
#include "runtime/core/base/pinned_file.h"
#include "toolkit.h"

using namespace mneme;
using namespace mneme::test;

namespace {

/// Keeps `count` values alive at once, so that a low register limit spills.
std::string manyValues(unsigned count) {
  std::string ir = "target triple = \"nvptx64-nvidia-cuda\"\n"
                   "define ptx_kernel void @manyValues(ptr %p) {\n";
  const auto number = [](unsigned value) { return std::to_string(value); };
  for (unsigned i = 0; i < count; ++i)
    ir += "%a" + number(i) + " = getelementptr float, ptr %p, i64 " + number(i) + "\n%v" +
          number(i) + " = load volatile float, ptr %a" + number(i) + "\n";
  for (unsigned i = 0; i < count; ++i)
    ir += "store volatile float %v" + number(count - 1 - i) + ", ptr %a" + number(i) + "\n";
  return ir + "ret void\n}\n";
}

/// A program that answers like ptxas of another release, and fails to assemble.
std::string fakePtxas(const TemporaryDirectory& directory, const std::string& release,
                      const std::string& otherwise) {
  const std::string path = (directory.path() / "ptxas").string();
  std::ofstream(path) << "#!/bin/sh\n[ \"$1\" = --version ] && { echo 'Cuda compilation tools, "
                         "release "
                      << release << ", V" << release << ".99'; exit 0; }\n"
                      << otherwise << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

} // namespace

TEST_CASE("what was assembled before is not assembled again") {
  class Counting : public compile::Assembler {
  public:
    explicit Counting(int& calls) : calls_(calls) {}
    const compile::AssemblerVersion& version() const override { return version_; }
    compile::Assembly assemble(const compile::AssemblyRequest& request) const override {
      if (++calls_; request.ptx.empty())
        throw Error(ErrorCode::CompileFailed, "no PTX");
      return {.cubin = request.ptx + request.arch, .usage = {.registers = 7}};
    }

  private:
    int& calls_;
    compile::AssemblerVersion version_;
  };
  int calls = 0;
  const compile::RememberingAssembler tool(std::make_shared<Counting>(calls));
  const compile::AssemblyRequest one{.ptx = "a", .arch = "sm_90"};
  CHECK(tool.assemble(one).cubin == "asm_90");
  CHECK(tool.assemble(one).cubin == "asm_90");
  CHECK(tool.assemble(one).usage.registers == 7);
  CHECK(calls == 1);
  CHECK(tool.assemble({.ptx = "a", .arch = "sm_80"}).cubin == "asm_80");
  tool.assemble({.ptx = "b", .arch = "sm_90"});
  tool.assemble({.ptx = "a", .kernel = "k", .arch = "sm_90"});
  tool.assemble({.ptx = "a", .arch = "sm_90", .optLevel = 2});
  tool.assemble({.ptx = "a", .arch = "sm_90", .maxRegisters = 32});
  tool.assemble({.ptx = "a", .arch = "sm_90", .options = {"-lineinfo"}});
  CHECK(calls == 7);
  for (int i = 0; i < 2; ++i)
    CHECK_THROWS_AS(static_cast<void>(tool.assemble(compile::AssemblyRequest{})), Error);
  CHECK(calls == 9);
}

TEST_CASE("both assemblers make a cubin and tell what the kernel uses") {
  for (const char* name : {"ptxas", "nvjitlink"}) {
    CAPTURE(name);
    const WithAssembler tool(name);
    if (!tool)
      continue;
    const compile::Result result = compile::compile(vectorAddRequest("sm_90"));
    CHECK(isCubin(result.image));
    CHECK(numberIn(result.statisticsJson, "reg_usage") >= 8);
    CHECK(numberIn(result.statisticsJson, "spill_store_bytes") == 0);
    CHECK(numberIn(result.statisticsJson, "stack_bytes") == 0);
    CHECK(numberIn(result.statisticsJson, "obj_size") == double(result.image.size()));
    CHECK(numberIn(result.statisticsJson, "assemble_time") > 0);
    CHECK(numberIn(result.statisticsJson, "codegen_time") >
          numberIn(result.statisticsJson, "assemble_time"));
    CHECK(contains(result.statisticsJson,
                   std::string("\"assembler\":\"") + (name[0] == 'p' ? "ptxas " : "nvJitLink ")));
    CHECK(textOf(result.image) == textOf(compile::compile(vectorAddRequest("sm_90")).image));
  }
}

TEST_CASE("without an assembler the image is PTX a driver of CUDA 12.0 accepts") {
  const ScopedEnvironment assembler("MNEME_ASSEMBLER", "driver");
  compile::Request request = vectorAddRequest("sm_90");
  request.wantAssembly = true;
  const compile::Result result = compile::compile(request);
  CHECK(textOf(result.image) == result.assembly);
  CHECK(contains(result.assembly, ".version 8.0"));
  CHECK(contains(result.statisticsJson, "\"assembler\":\"driver\""));
  if (llvmMajor() >= 20) // the first that knows sm_120
    CHECK(contains(compile::compile(vectorAddRequest("sm_120")).statisticsJson,
                   "\"ptx_version\":\"8.7\""));
}

TEST_CASE("a register limit makes the kernel spill, and the statistics say so") {
  for (const char* name : {"ptxas", "nvjitlink"}) {
    CAPTURE(name);
    const WithAssembler tool(name);
    if (!tool)
      continue;
    compile::Request request;
    request.modules = {bytesOf(manyValues(120))};
    request.kernel = "manyValues";
    request.target = "sm_90";
    const std::string free = compile::compile(request).statisticsJson;
    request.maxRegisters = 32;
    const std::string limited = compile::compile(request).statisticsJson;
    CHECK(numberIn(free, "reg_usage") > 100);
    CHECK(numberIn(free, "spill_store_bytes") == 0);
    CHECK(numberIn(limited, "reg_usage") <= 32);
    CHECK(numberIn(limited, "spill_store_bytes") > 0);
    CHECK(numberIn(limited, "spill_load_bytes") > 0);
    CHECK(numberIn(limited, "local_mem_usage") > 0);
  }
}

TEST_CASE("the code generation level and further options reach the assembler") {
  for (const char* name : {"ptxas", "nvjitlink"}) {
    CAPTURE(name);
    const WithAssembler tool(name);
    if (!tool)
      continue;
    compile::Request request = vectorAddRequest("sm_90");
    const std::string best = textOf(compile::compile(request).image);
    request.assemblerOptions = "--def-load-cache=cg  -w";
    CHECK(textOf(compile::compile(request).image) != best);
    request.assemblerOptions = "";
    request.passes = "";
    const size_t optimised = compile::compile(request).image.size();
    request.codegenOptLevel = 0;
    CHECK(compile::compile(request).image.size() != optimised);
    request.assemblerOptions = "--no-such-option";
    const Failure failure = failureOf([&] { compile::compile(request); });
    CHECK(failure.code != ErrorCode::Ok);
    CHECK(contains(failure.message, "no-such-option"));
  }
}

TEST_CASE("options that would change the request or write files are refused") {
  for (const char* option : {"-o", "-o=x", "--output-file=/tmp/x", "-arch=sm_80",
                             "--gpu-name=sm_80", "-O0", "--opt-level=1", "-maxrregcount=8",
                             "--options-file=x", "x.cubin", "-c", "--help", "-", "-ias=.version"}) {
    CAPTURE(option);
    compile::Request request = vectorAddRequest("sm_90");
    request.assemblerOptions = option;
    const Failure failure = failureOf([&] { compile::compile(request); });
    CHECK(failure.code == ErrorCode::InvalidArgument);
    CHECK(contains(failure.message, option));
  }
}

TEST_CASE("a file of controls is known by its content") {
  const TemporaryDirectory directory;
  const std::string path = (directory.path() / "fast.acf").string();
  std::ofstream(path) << "controls";
  const std::string option = "--apply-controls=" + pinnedText(path, "file");
  CHECK(compile::optionForTool(option) ==
        "--apply-controls=" + pinnedFileIn(pinnedText(path, "file")).path);
  CHECK(compile::optionForTool("--fmad=false@0123456789abcdef") == "--fmad=false@0123456789abcdef");
  for (const char* name : {"ptxas", "nvjitlink"}) {
    CAPTURE(name);
    const WithAssembler tool(name);
    if (!tool)
      continue;
    compile::Request request = vectorAddRequest("sm_90");
    request.assemblerOptions = option;
    Failure failure = failureOf([&] { compile::compile(request); });
    CHECK(failure.code == ErrorCode::CompileFailed); // only NVIDIA makes files that are taken
    CHECK(contains(failure.message, name == std::string("ptxas") ? "not in expected format" : ""));
    for (const std::string& unnamed :
         {"--apply-controls=" + path, std::string("-apply-controls")}) {
      request.assemblerOptions = unnamed;
      failure = failureOf([&] { compile::compile(request); });
      CHECK(failure.code == ErrorCode::InvalidArgument);
      CHECK(contains(failure.message, "has to say which content"));
    }
  }
  std::ofstream(path) << "others";
  const Failure failure = failureOf([&] { compile::optionForTool(option); });
  CHECK(failure.code == ErrorCode::InvalidArgument);
  CHECK(contains(failure.message, "has changed since it was named"));
}

TEST_CASE("PTX is written in a version the assembler accepts") {
  const TemporaryDirectory directory;
  const std::string older = fakePtxas(directory, "12.2",
                                      "sed -n 's/^.version/fatal : got/p' "
                                      "/proc/self/fd/3; exit 1");
  const ScopedEnvironment assembler("MNEME_ASSEMBLER", "ptxas");
  const ScopedEnvironment path("MNEME_PTXAS", older.c_str());
  compile::Request request = vectorAddRequest("sm_90");
  std::string newer = kVectorAdd;
  newer.replace(newer.find("+ptx80"), 6, "+ptx88");
  request.modules = {bytesOf(newer)};
  const Failure failure = failureOf([&] { compile::compile(request); });
  CHECK(failure.code == ErrorCode::CompileFailed);
  CHECK(contains(failure.message, "got 8.2"));
  CHECK(contains(failure.message, "ptxas 12.2.99"));
  if (llvmMajor() < 20) // the first that knows sm_120
    return;
  request.target = "sm_120";
  const Failure tooOld = failureOf([&] { compile::compile(request); });
  CHECK(tooOld.code == ErrorCode::Unsupported);
  CHECK(contains(tooOld.message, "sm_120 needs PTX 8.7"));
  CHECK(contains(tooOld.message, "ptxas 12.2.99 accepts PTX up to 8.2"));
}

TEST_CASE("ptxas is found where no variable names a toolkit") {
  const ScopedEnvironment root("MNEME_CUDA_ROOT", nullptr), home("CUDA_HOME", nullptr),
      path("CUDA_PATH", nullptr), programs("PATH", "/nowhere"), wanted("MNEME_ASSEMBLER", "ptxas");
  SUBCASE("in the toolkit of mneme's configuration") {
    const ScopedEnvironment none("VIRTUAL_ENV", nullptr);
    CHECK(compile::findAssembler().path == std::string(MNEME_TEST_CUDA_ROOT) + "/bin/ptxas");
  }
  SUBCASE("before that in the active environment") {
    const TemporaryDirectory directory;
    const auto folder = directory.path() / "lib/python3.11/site-packages/nvidia/cu13/bin";
    std::filesystem::create_directories(folder);
    std::filesystem::rename(fakePtxas(directory, "13.0", "exit 1"), folder / "ptxas");
    const ScopedEnvironment environment("VIRTUAL_ENV", directory.path().c_str());
    CHECK(compile::findAssembler().path == folder / "ptxas");
  }
}

TEST_CASE("an assembler that crashes or is not an assembler costs one compilation") {
  const TemporaryDirectory directory;
  const ScopedEnvironment assembler("MNEME_ASSEMBLER", "ptxas");
  const std::string crashing = fakePtxas(directory, "13.0", "kill -SEGV $$");
  {
    const ScopedEnvironment path("MNEME_PTXAS", crashing.c_str());
    const Failure failure = failureOf([] { compile::compile(vectorAddRequest("sm_90")); });
    CHECK(failure.code == ErrorCode::CompileFailed);
    CHECK(contains(failure.message, "died of signal 11"));
  }
  {
    const ScopedEnvironment path("MNEME_PTXAS", "/bin/true");
    const Failure failure = failureOf([] { compile::compile(vectorAddRequest("sm_90")); });
    CHECK(failure.code == ErrorCode::BackendUnavailable);
    CHECK(contains(failure.message, "/bin/true"));
  }
  {
    const ScopedEnvironment path("MNEME_PTXAS", "/nowhere/ptxas");
    const Failure failure = failureOf([] { compile::compile(vectorAddRequest("sm_90")); });
    CHECK(failure.code == ErrorCode::BackendUnavailable);
    CHECK(contains(failure.message, "/nowhere/ptxas"));
  }
  const ScopedEnvironment unknown("MNEME_ASSEMBLER", "masm");
  CHECK(failureOf([] { compile::compile(vectorAddRequest("sm_90")); }).code ==
        ErrorCode::InvalidArgument);
}

TEST_CASE("PTX versions follow releases and architectures") {
  CHECK(compile::ptxOfCuda(12, 0) == 80);
  CHECK(compile::ptxOfCuda(12, 6) == 85);
  CHECK(compile::ptxOfCuda(13, 0) == 90);
  CHECK(compile::ptxOfCuda(99, 0) >= 90);
  CHECK(compile::ptxOfCuda(9, 0) == 0);
  CHECK(compile::ptxOfArchitecture("sm_90a") == 80);
  CHECK(compile::choosePtxVersion("sm_90", 0, 90, 90, "it") == 78);
  CHECK(compile::choosePtxVersion("sm_90", 88, 90, 90, "it") == 88);
  CHECK(compile::choosePtxVersion("sm_90", 88, 82, 90, "it") == 82);
  CHECK(compile::choosePtxVersion("sm_90", 90, 91, 87, "it") == 87);
}

TEST_CASE("usage is read for the right kernel only") {
  const std::string messages =
      "ptxas info    : 8 bytes gmem\n"
      "ptxas info    : Compiling entry function 'other' for 'sm_90'\n"
      "ptxas info    : Function properties for other\n"
      "    96 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n"
      "ptxas info    : Used 99 registers, 12 bytes smem\n"
      "ptxas info    : Compiling entry function 'ours' for 'sm_90'\n"
      "ptxas info    : Function properties for ours\n"
      "    32 bytes stack frame, 16 bytes spill stores, 20 bytes spill loads\n"
      "ptxas info    : Used 40 registers, used 1 barriers, 4096 bytes smem\n";
  const compile::ResourceUsage usage = compile::usageInMessages(messages, "ours");
  CHECK(usage.registers == 40);
  CHECK(usage.stackBytes == 32);
  CHECK(usage.spillStoreBytes == 16);
  CHECK(usage.spillLoadBytes == 20);
  CHECK(usage.sharedBytes == 4096);
}
