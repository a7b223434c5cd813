#include <doctest/doctest.h>

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "runtime/core/base/error.h"
#include "runtime/core/base/hash.h"
#include "runtime/core/embed/code_image.h"
#include "runtime/core/embed/containers.h"
#include "runtime/jit/loaded/loaded_engine.h"

using namespace mneme;
using namespace mneme::jit;

namespace {

const std::string kHead = ".version 8.0\n.target sm_90\n.address_size 64\n";
const std::string kBody = ".visible .entry k(.param .u64 k_p, .param .u32 k_n) { ret; }\n";
const std::string kPlain = kHead + kBody;
const std::string kOther = kHead + "// another compiler's\n" + kBody;
const std::string kWithVariable = kHead + ".visible .global .align 4 .b8 v[4];\n" + kBody;

/// Memory is between 4096 and 8191.
struct FakeDriver final : LoadedDriver {
  int currentDevice() noexcept override { return device; }
  uint64_t currentContext() noexcept override { return context; }
  std::string target(int) override { return architecture; }
  bool isCaptured(void* stream) noexcept override { return stream == captured; }
  std::optional<std::vector<embed::DeviceParameter>> parametersOf(const void*) override {
    return std::nullopt;
  }
  void* load(const std::vector<std::byte>& code, const std::string& kernel) override {
    loaded.emplace_back(reinterpret_cast<const char*>(code.data()));
    if (failsToLoad)
      throw Error(ErrorCode::CompileFailed, "no room for " + kernel);
    return &changed;
  }
  bool takeAttributes(const void*, void*, uint64_t sharedBytes,
                      uint32_t sharedCarveout) noexcept override {
    carveout = sharedCarveout;
    return sharedBytes <= allowedBytes;
  }
  void visitKernels(const LoadedGraph&, const std::function<bool(const void*)>& isWanted,
                    const std::function<void(const LoadedGraphKernel&)>& visit) override {
    for (const LoadedGraphKernel& one : kernels)
      if (isWanted(one.function) || isWanted(one.kernel))
        visit(one);
  }
  bool replaceIn(const LoadedGraph& graph, const LoadedGraphKernel& own, const void* function,
                 const tuned::Dims& dims) noexcept override {
    const bool isTaken = !refusesNodes && graph.graph == source;
    isTaken ? replaced.push_back({own.node, function, dims}) : void(++refused);
    return isTaken;
  }

  int device = 0;
  std::string architecture = "sm_90";
  uint64_t context = 1, allowedBytes = 48 << 10;
  bool failsToLoad = false, refusesNodes = false;
  void* captured = reinterpret_cast<void*>(99);
  char changed = 0;
  uint32_t carveout = 0;
  std::vector<std::string> loaded;
  struct Replaced {
    void* node;
    const void* function;
    tuned::Dims dims;
  };
  std::vector<LoadedGraphKernel> kernels; ///< of any graph
  const void* source = nullptr;           ///< what executable graphs were made from
  int refused = 0;
  std::vector<Replaced> replaced;
};

std::string hexOf(const std::string& text) {
  std::string digits;
  for (const char letter : text)
    for (const int half : {(letter >> 4) & 15, letter & 15})
      digits += "0123456789abcdef"[half];
  return digits;
}

/// A file that tunes the kernel of this code, for an argument n of 7.
std::string fileFor(const std::string& code, const std::string& how, uint64_t change = 0,
                    const LoadedEngine::JitOptions& options = {}) {
  const auto image =
      embed::withJitOptions(embed::copyImage(embed::imageInMemory(code.c_str())), options, "");
  const std::string hash =
      toHex(combineHashes(image.contentHash, hash64(std::string("k"))) + change);
  return R"({"k": {"Mneme": {"Version": 3, "Variants": [{"CodeForm": "ptx", "StaticHash": ")" +
         hash +
         R"(", "Match": {"Arch": "sm_90", "GridDim": {"x": 8}, "BlockDim": {"x": 128},
             "SharedMem": 0, "Args": [
             {"Index": 0, "Bytes": "0000000000000000", "Pointers": [0]},
             {"Index": 1, "Type": "i32", "Bytes": "07000000"}]}, )" +
         how + "}]}}}";
}

const std::string kDims =
    R"("Launch": {"Rule": "exact", "GridDim": {"x": 16}, "BlockDim": {"x": 64}})";

/// A program that has loaded this code, as it is or with another name.
struct Program {
  explicit Program(const std::string& file, const std::string& code = kPlain)
      : engine(tuned::parseFile(file, "t.json"), driver,
               {.warn = [this](const std::string& text) { warnings.push_back(text); },
                .trace = [this](const std::string& text) { lines.push_back(text); }}) {
    std::string buffer = code; // which the program reuses
    engine.moduleLoaded(&module, buffer.c_str(), LoadedEngine::Scope::Context);
    buffer.assign(buffer.size(), 'x');
    engine.kernelAskedFor(&function, &module, "k");
  }

  std::optional<TunedLaunch> launch(const void* handle) {
    return engine.planOf({.function = handle,
                          .dims = {{8, 1, 1}, {128, 1, 1}},
                          .sharedBytes = sharedBytes,
                          .stream = stream,
                          .args = args,
                          .mayReshape = mayReshape});
  }
  std::optional<TunedLaunch> launch() { return launch(&function); }

  /// A node that launches the kernel as launch() does.
  LoadedGraphKernel node(void* handle, const void* own, const void* ofLibrary = nullptr) {
    return {.node = handle,
            .function = own,
            .kernel = ofLibrary,
            .dims = {{8, 1, 1}, {128, 1, 1}},
            .sharedBytes = sharedBytes,
            .args = args,
            .mayReshape = mayReshape};
  }

  FakeDriver driver;
  std::vector<std::string> warnings, lines;
  LoadedEngine engine;
  char module = 0, function = 0;
  uint64_t pointer = 0x1234;
  int32_t n = 7;
  void* args[2] = {&pointer, &n};
  uint64_t sharedBytes = 0;
  void* stream = nullptr;
  bool mayReshape = true;
};

} // namespace

TEST_CASE("launches like the tuned one get its dimensions") {
  Program program(fileFor(kPlain, kDims));
  const auto plan = program.launch();
  REQUIRE(plan);
  CHECK(plan->function == &program.function);
  CHECK(plan->dims == tuned::Dims{{16, 1, 1}, {64, 1, 1}});
  program.pointer = 17; // wherever the memory is
  CHECK(program.launch());
  CHECK(program.lines ==
        std::vector<std::string>{
            "[kernel-trace] k <<<8x1x1, 128x1x1, 0>>> on device 0: variant 0, fits "
            "this launch, launched <<<16x1x1, 64x1x1>>>"});
  // Arguments in one buffer.
  char buffer[12];
  std::memcpy(buffer, &program.pointer, 8);
  std::memcpy(buffer + 8, &program.n, 4);
  size_t bytes = sizeof buffer;
  void* extra[] = {reinterpret_cast<void*>(1), buffer, reinterpret_cast<void*>(2), &bytes, nullptr};
  CHECK(program.engine.planOf(
      {.function = &program.function, .dims = {{8, 1, 1}, {128, 1, 1}}, .extra = extra}));
  bytes = 8; // too short
  CHECK_FALSE(program.engine.planOf(
      {.function = &program.function, .dims = {{8, 1, 1}, {128, 1, 1}}, .extra = extra}));
  program.engine.report();
  CHECK(program.warnings.empty());
}

TEST_CASE("all other launches stay as they are") {
  Program program(fileFor(kPlain, kDims));
  SUBCASE("another number") { program.n = 8; }
  SUBCASE("captured") { program.stream = program.driver.captured; }
  SUBCASE("blocks that depend on each other") { program.mayReshape = false; }
  SUBCASE("other shared memory") { program.sharedBytes = 16; }
  SUBCASE("no context") { program.driver.device = -1; }
  SUBCASE("the handle of a function in another context") {
    CHECK(program.launch());
    program.driver.context = 2;
  }
  SUBCASE("unloaded") { program.engine.moduleUnloaded(&program.module); }
  SUBCASE("the handle of another kernel") {
    program.engine.kernelAskedFor(&program.function, &program.module, "other");
  }
  SUBCASE("a child of fork") { program.engine.turnOff(); }
  SUBCASE("other code with the same handles") {
    program.engine.moduleLoaded(&program.module, kWithVariable.c_str(),
                                LoadedEngine::Scope::Context);
    program.engine.kernelAskedFor(&program.function, &program.module, "k");
  }
  CHECK_FALSE(program.launch());
}

TEST_CASE("handles of one kernel count alike") {
  Program program(fileFor(kPlain, kDims));
  const char alias = 0, library = 0, ofLibrary = 0, again = 0;
  CHECK_FALSE(program.launch(&alias));
  program.engine.aliasAskedFor(&alias, &program.function);
  CHECK(program.launch(&alias));
  program.engine.moduleLoaded(const_cast<char*>(&library), kPlain.c_str(),
                              LoadedEngine::Scope::AllContexts);
  program.engine.moduleAskedFor(const_cast<char*>(&library), const_cast<char*>(&ofLibrary));
  program.engine.kernelAskedFor(&again, const_cast<char*>(&ofLibrary), "k");
  CHECK(program.launch(&again));
}

TEST_CASE("a handle that became another kernel's is not tuned") {
  Program program(fileFor(kPlain, kDims));
  const char alias = 0, library = 0, unknown = 0;
  program.engine.aliasAskedFor(&alias, &program.function);
  CHECK(program.launch(&alias));
  program.engine.aliasAskedFor(&alias, &unknown);
  CHECK_FALSE(program.launch(&alias));
  program.engine.moduleAskedFor(const_cast<char*>(&library), &program.module);
  program.engine.kernelAskedFor(&program.function, &program.module, "k");
  CHECK_FALSE(program.launch());
}

TEST_CASE("other code is not tuned, and that is said at the end") {
  Program program(fileFor(kPlain, kDims, 1));
  CHECK_FALSE(program.launch());
  program.engine.report();
  REQUIRE(program.warnings.size() == 1);
  CHECK(program.warnings[0].find("'k' was not used: no launch of it had the code and the "
                                 "arguments") != std::string::npos);
}

TEST_CASE("PTX gets another limit of registers, once in each context") {
  Program program(fileFor(kPlain, "\"MaxRegisters\": 32, " + kDims));
  for (int time = 0; time < 2; ++time) {
    const auto plan = program.launch();
    REQUIRE(plan);
    CHECK(plan->function == &program.driver.changed);
    CHECK(plan->dims.block.x == 64);
  }
  // Neither asking again nor other code makes it anew.
  const char other = 0;
  for (int time = 0; time < 2; ++time) {
    program.engine.kernelAskedFor(&program.function, &program.module, "k");
    program.engine.moduleLoaded(const_cast<char*>(&other), kWithVariable.c_str(),
                                LoadedEngine::Scope::Context);
    CHECK(program.launch());
  }
  REQUIRE(program.driver.loaded.size() == 1);
  CHECK(program.driver.loaded[0].find(".maxnreg 32") != std::string::npos);
  // A library's kernel has one handle for all contexts.
  const char library = 0, ofLibrary = 0;
  program.engine.moduleLoaded(const_cast<char*>(&library), kPlain.c_str(),
                              LoadedEngine::Scope::AllContexts);
  program.engine.kernelAskedFor(&ofLibrary, const_cast<char*>(&library), "k");
  for (const uint64_t context : {2, 1, 2}) {
    program.driver.context = context;
    CHECK(program.launch(&ofLibrary));
  }
  CHECK(program.driver.loaded.size() == 2);
  program.driver.context = 1;
  // The program asked for less than this launch needs.
  program.driver.allowedBytes = 0;
  program.sharedBytes = 1;
  CHECK_FALSE(program.launch());
  // Another number: the same code with the program's own dimensions.
  program.sharedBytes = 0;
  program.n = 8;
  const auto plan = program.launch();
  REQUIRE(plan);
  CHECK(plan->dims.block.x == 128);
}

TEST_CASE("PTX gets other launch bounds, for blocks that keep them") {
  const std::string bounds = R"("TunedMaxThreads": 64, "MinBlocksPerSM": 4, )";
  Program program(fileFor(kPlain, bounds + kDims));
  const auto plan = program.launch();
  REQUIRE(plan);
  CHECK(plan->function == &program.driver.changed);
  CHECK(plan->dims.block.x == 64);
  REQUIRE(program.driver.loaded.size() == 1);
  CHECK(program.driver.loaded[0].find(".maxntid 64\n.minnctapersm 4") != std::string::npos);
  program.n = 8; // its own block, of 128 threads
  CHECK_FALSE(program.launch());
}

TEST_CASE("PTX of a fat binary is changed, where there is some") {
  const auto fat = [](const std::string& member) {
    const auto bytes =
        embed::withMember({}, std::as_bytes(std::span(member.data(), member.size())), 80);
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  const std::string how = R"("TunedMaxThreads": 64, )" + kDims, image = fat(kPlain);
  Program program(fileFor(image, how), image);
  const auto plan = program.launch();
  REQUIRE(plan);
  CHECK(plan->function == &program.driver.changed);
  REQUIRE(program.driver.loaded.size() == 1);
  CHECK(program.driver.loaded[0].find(kHead + ".visible .entry k(") == 0);
  CHECK(program.driver.loaded[0].find("\n.maxntid 64") != std::string::npos);
}

TEST_CASE("code of any form gets another carve-out of shared memory") {
  Program program(fileFor(kPlain, "\"SharedCarveout\": 50, " + kDims));
  const auto plan = program.launch();
  REQUIRE(plan);
  CHECK(plan->function == &program.driver.changed); // the program's own keeps what it set
  CHECK(program.driver.loaded == std::vector<std::string>{kPlain});
  CHECK(program.driver.carveout == 50);
}

TEST_CASE("the options by which a program has PTX compiled are a part of its code") {
  const LoadedEngine::JitOptions options = {{0, 48}, {7, 2}};
  Program program(fileFor(kPlain, "\"MaxRegisters\": 32, " + kDims, 0, options));
  CHECK_FALSE(program.launch()); // it was loaded without
  program.engine.moduleLoaded(&program.module, kPlain.c_str(), LoadedEngine::Scope::Context,
                              options);
  program.engine.kernelAskedFor(&program.function, &program.module, "k");
  CHECK(program.launch());
  REQUIRE(program.driver.loaded.size() == 1);
  CHECK(embed::jitOptionsIn(program.driver.loaded[0]) == LoadedEngine::JitOptions{{0, 32}, {7, 2}});
  CHECK(program.driver.loaded[0].find(".maxnreg 32") != std::string::npos);
}

TEST_CASE("code of the file takes the place of the program's, on the architecture it is for") {
  const std::string file =
      fileFor(kPlain, R"("MaxRegisters": 32, "Cubin": ")" + hexOf(kOther) + R"(", )" + kDims);
  Program program(file);
  const auto plan = program.launch();
  REQUIRE(plan);
  CHECK(plan->function == &program.driver.changed);
  CHECK(plan->dims.block.x == 64);
  CHECK(program.driver.loaded == std::vector<std::string>{kOther});
  Program elsewhere(file);
  elsewhere.driver.architecture = "sm_100";
  CHECK_FALSE(elsewhere.launch());
  CHECK(elsewhere.driver.loaded.empty());
  REQUIRE(elsewhere.warnings.size() == 1);
  CHECK(elsewhere.warnings[0].find("its machine code is for sm_90, not for sm_100") !=
        std::string::npos);
}

TEST_CASE("what a file has in place of code never runs if it is something else") {
  std::string code, told;
  const auto without = [](std::string text, const std::string& part, const std::string& by) {
    return text.replace(text.find(part), part.size(), by);
  };
  SUBCASE("no code") {
    code = "\x7f"
           "ELF",
    told = "is not device code";
  }
  SUBCASE("of another kernel") {
    code = without(kOther, "entry k", "entry other"), told = "the file's code has no such kernel";
  }
  SUBCASE("with arguments of other sizes") {
    code = without(kOther, ".u32 k_n", ".u64 k_n"), told = "the file's code takes other arguments";
  }
  SUBCASE("with more arguments") {
    code = without(kOther, ".u32 k_n", ".u32 k_n, .param .u32 k_m");
    told = "the file's code takes other arguments";
  }
  Program program(fileFor(kPlain, "\"Cubin\": \"" + hexOf(code) + "\", " + kDims));
  CHECK_FALSE(program.launch());
  CHECK(program.driver.loaded.empty());
  REQUIRE(program.warnings.size() == 1);
  CHECK(program.warnings[0].find(told) != std::string::npos);
}

TEST_CASE("code with texts of its compiler's may be exchanged") {
  const std::string code = kHead + ".global .align 1 .b8 _$_str[4] = {65, 66, 67};\n" + kBody;
  Program program(fileFor(code, "\"MaxRegisters\": 32, " + kDims), code);
  CHECK(program.launch());
  CHECK(program.warnings.empty());
}

TEST_CASE("code for another processor never runs") {
  Program program(
      fileFor(kPlain, R"("Processor": "ab", "Cubin": ")" + hexOf(kOther) + R"(", )" + kDims));
  CHECK_FALSE(program.launch());
  CHECK(program.driver.loaded.empty());
  REQUIRE(program.warnings.size() == 1);
  CHECK(program.warnings[0].find("is for another processor") != std::string::npos);
}

TEST_CASE("code that cannot be changed stays, with its dimensions") {
  SUBCASE("device variables, which machine code of the file would have its own of") {
    Program program(fileFor(kWithVariable, R"("Cubin": "7f454c46", )" + kDims), kWithVariable);
    CHECK_FALSE(program.launch());
    CHECK(program.driver.loaded.empty());
  }
  SUBCASE("device variables") {
    Program program(fileFor(kWithVariable, "\"MaxRegisters\": 32, " + kDims), kWithVariable);
    CHECK_FALSE(program.launch());
    REQUIRE(program.warnings.size() == 1);
    CHECK(program.warnings[0].find("has device variables") != std::string::npos);
  }
  SUBCASE("a driver that refuses") {
    Program program(fileFor(kPlain, "\"MaxRegisters\": 32, " + kDims));
    program.driver.failsToLoad = true;
    CHECK_FALSE(program.launch());
    CHECK_FALSE(program.launch());
    CHECK(program.driver.loaded.size() == 1);
    REQUIRE(program.warnings.size() == 1);
    CHECK(program.warnings[0] == "tuned kernel 'k' is not used: no room for k; it runs as it was "
                                 "built");
  }
}

TEST_CASE("kernels in executable graphs are tuned as other launches are") {
  Program program(fileFor(kPlain, kDims));
  char first = 0, second = 0, unknown = 0, graph = 0;
  int32_t other = 8;
  void* otherArgs[2] = {&program.pointer, &other};
  program.driver.kernels = {
      program.node(&first, &program.function), program.node(&second, &unknown, &program.function),
      program.node(&unknown, &unknown), program.node(&unknown, &program.function)};
  program.driver.kernels.back().args = otherArgs;
  program.driver.source = &graph;
  program.engine.graphChanged({&graph, &graph});
  REQUIRE(program.driver.replaced.size() == 2);
  for (const auto& [node, function, dims] : program.driver.replaced) {
    CHECK((node == &first || node == &second));
    CHECK(function == nullptr); // the program's own, with other dimensions
    CHECK(dims == tuned::Dims{{16, 1, 1}, {64, 1, 1}});
  }
  program.driver.context = 2; // the handles are not of this one
  program.engine.graphChanged({&graph, &graph});
  program.engine.turnOff();
  program.engine.graphChanged({&graph, &graph});
  CHECK(program.driver.replaced.size() == 2);
  CHECK(program.warnings.empty());
}

TEST_CASE("kernels in executable graphs get other code, if the driver takes it") {
  Program program(fileFor(kPlain, "\"MaxRegisters\": 32, " + kDims));
  char node = 0, graph = 0;
  program.driver.kernels = {program.node(&node, &program.function)};
  program.driver.source = &graph;
  program.engine.graphChanged({&graph, &graph});
  REQUIRE(program.driver.replaced.size() == 1);
  CHECK(program.driver.replaced[0].function == &program.driver.changed);
  CHECK(program.driver.replaced[0].dims.block.x == 64);
  program.driver.refusesNodes = true;
  program.engine.graphChanged({&graph, &graph});
  REQUIRE(program.warnings.size() == 1);
  CHECK(program.warnings[0].find("does not take it into a graph") != std::string::npos);
}

TEST_CASE("an update tunes kernels if it is by the graph that the executable graph was made from") {
  Program program(fileFor(kPlain, kDims));
  char node = 0, exec = 0, unseen = 0, graph = 0, other = 0;
  program.driver.source = &graph;
  program.driver.kernels = {program.node(&node, &program.function)};
  program.engine.graphChanged({&exec, &graph});
  program.engine.graphChanged({&exec, &other, true});
  CHECK(program.driver.refused == 0);
  program.engine.graphChanged({&exec, &graph, true});
  CHECK(program.driver.replaced.size() == 2);
  program.engine.graphChanged({&unseen, &other, true});
  CHECK(program.driver.refused == 1);
  CHECK(program.warnings.empty()); // what was tuned there is no longer, which is no fault
}
