#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "image_maker.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"
#include "runtime/core/embed/device_code.h"

using namespace mneme;
using namespace mneme::embed;
using namespace mneme::embed::test;

namespace {

using Parameters = std::vector<DeviceParameter>;

/// One of the fat binaries that images/make.sh makes.
Buffer image(const char* name) { return readFile(std::string(IMAGES "/") + name + ".fatbin"); }

Buffer contentOf(const Buffer& fatBinary, size_t member) {
  return fatBinaryMembers(fatBinary).at(member).content();
}

/// Whether this is what images/kernels.cu says.
void checkKernels(const DeviceCode& code) {
  REQUIRE(code.kernels.size() == 2);
  const DeviceKernel* scale = code.find("_Z5scalePficd3Bigs");
  const DeviceKernel* none = code.find("none");
  REQUIRE(scale);
  REQUIRE(none);
  CHECK(!code.find("non"));
  CHECK(scale->parameters == Parameters{{0, 8}, {8, 4}, {12, 1}, {16, 8}, {24, 32}, {56, 2}});
  CHECK(scale->maxThreads == 0);
  CHECK(none->parameters == Parameters{});
  CHECK(none->maxThreads == 128);
  const bool isCubin = code.form == CodeForm::Cubin;
  CHECK((scale->registers.value_or(0) > 0) == isCubin);
  CHECK(scale->staticSharedBytes == (isCubin ? std::optional<uint64_t>(1024) : std::nullopt));
  CHECK(none->staticSharedBytes == (isCubin ? std::optional<uint64_t>(0) : std::nullopt));
  std::vector<std::string> variables;
  for (const DeviceVariable& variable : code.variables)
    variables.push_back(variable.name + " " + std::to_string(variable.sizeBytes) +
                        (variable.isConstant ? " constant" : ""));
  std::ranges::sort(variables);
  CHECK(variables ==
        std::vector<std::string>{"coefficients 256 constant", "counter 4", "table 80"});
}

/// Every shorter image, and some with a few wrong bits, is refused or read; nothing else happens.
template <typename Read> void damage(const Buffer& whole, const Read& read) {
  const auto attempt = [&](Buffer bytes) {
    bytes.shrink_to_fit(); // so that a sanitizer sees a read behind the last byte
    try {
      read(bytes);
    } catch (const Error&) {
    }
  };
  for (size_t size = 0; size < whole.size(); ++size)
    attempt(Buffer(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)));
  for (size_t place = 0; place < whole.size(); ++place)
    for (const int bits : {0x01, 0x80, 0xff}) {
      Buffer damaged = whole;
      damaged[place] ^= std::byte(bits);
      attempt(std::move(damaged));
    }
}

} // namespace

TEST_CASE("machine code and PTX of every architecture tell the same kernels and variables") {
  for (const char* name : {"zstd", "lz4"}) {
    const Buffer fatBinary = image(name);
    for (const FatMember& member : fatBinaryMembers(fatBinary)) {
      CHECK(member.isCompressed);
      const DeviceCode code = readDeviceCode(member.content(), "");
      CHECK(code.form == member.form);
      checkKernels(code);
    }
  }
}

TEST_CASE("the code that the driver would load is read") {
  const Buffer all = image("zstd"); // sm_75, sm_90a, sm_100f, PTX of 7.5
  const auto chosen = [&](const char* gpu) {
    const DeviceCode code = readDeviceCode(all, gpu);
    checkKernels(code);
    return std::string(formName(code.form)) + " " + code.architecture;
  };
  CHECK(chosen("sm_75") == "cubin sm_75");
  CHECK(chosen("sm_80") == "PTX sm_75"); // another generation
  CHECK(chosen("sm_90") == "cubin sm_90a");
  CHECK(chosen("sm_100") == "cubin sm_100f");
  CHECK(chosen("sm_103a") == "cubin sm_100f"); // of the family
  CHECK(chosen("sm_120") == "PTX sm_75");
  CHECK(chosen("") == "cubin sm_100f");
  CHECK_THROWS_WITH_AS(readDeviceCode(all, "sm_70"),
                       "the fat binary has neither machine code nor PTX for sm_70, but cubin "
                       "(sm_75), cubin (sm_90a), cubin (sm_100f), PTX (compute_75)",
                       Error);
}

TEST_CASE("what a GPU runs of a fat binary stands for the whole, if it is not too large") {
  const Buffer whole = image("zstd");
  const Buffer member = memberFor(whole, "sm_90", uint64_t{1} << 20);
  const DeviceCode code = readDeviceCode(member, "sm_90");
  CHECK(code.architecture == "sm_90");
  checkKernels(code);
  CHECK(memberFor(member, "sm_90", 0) == member); // not a fat binary
  CHECK_THROWS_WITH_AS(memberFor(whole, "sm_90", member.size() - 1), doctest::Contains("more than"),
                       Error);
}

TEST_CASE("machine code and PTX go to the GPUs that can run them") {
  const auto runs = [](CodeForm form, unsigned architecture, char variant, unsigned gpu) {
    FatMember member;
    member.form = form;
    member.architecture = architecture;
    member.variant = variant;
    return member.runsOn(gpu);
  };
  CHECK(runs(CodeForm::Cubin, 80, 0, 86));
  CHECK(!runs(CodeForm::Cubin, 86, 0, 80));
  CHECK(!runs(CodeForm::Cubin, 80, 0, 90));
  CHECK(!runs(CodeForm::Cubin, 100, 'a', 103));
  CHECK(runs(CodeForm::Cubin, 100, 'f', 103));
  CHECK(!runs(CodeForm::Cubin, 103, 'f', 100));
  CHECK(runs(CodeForm::Ptx, 75, 0, 120));
  CHECK(!runs(CodeForm::Ptx, 90, 0, 80));
  CHECK(runs(CodeForm::Ptx, 90, 'a', 90));
  CHECK(!runs(CodeForm::Ptx, 90, 'a', 100));
  CHECK(!runs(CodeForm::Ptx, 100, 'f', 120));
}

TEST_CASE("LTO-IR is called by its name") {
  CHECK_THROWS_WITH_AS(
      readDeviceCode(image("lto"), "sm_90"),
      "the fat binary has neither machine code nor PTX for sm_90, but LTO-IR (lto_90)", Error);
}

TEST_CASE("the whole of an image in memory is found, in a wrapper too") {
  const Buffer packed = image("zstd");
  const Buffer cubin = contentOf(packed, 0);
  const Buffer ptx = contentOf(packed, 3);
  for (const Buffer& one : {packed, cubin}) {
    const Bytes found = imageInMemory(one.data());
    CHECK(found.data() == one.data());
    CHECK(found.size() == one.size());
    checkKernels(readDeviceCode(found, "sm_75"));
  }
  checkKernels(readDeviceCode(imageInMemory(ptx.data()), ""));
  struct {
    uint32_t magic = 0x466243b1;
    uint32_t version = 1;
    const void* data;
    const void* unused = nullptr;
  } wrapper;
  wrapper.data = packed.data();
  CHECK(imageInMemory(&wrapper).data() == packed.data());
  CHECK(imageInMemory("/").empty());
  CHECK(imageInMemory("").empty());
}

TEST_CASE("code of no known kind is refused with a sentence") {
  CHECK_THROWS_AS(readDeviceCode({}, "sm_90"), Error);
  CHECK_THROWS_AS(readDeviceCode(bytesOf("no code"), "sm_90"), Error);
  CHECK_THROWS_AS(readDeviceCode(elfWith({}), "sm_90"), Error);
  CHECK_THROWS_AS(readDeviceCode(fatBinaryWith({}), "sm_90"), Error);
  const Buffer cubin = contentOf(image("zstd"), 0);
  CHECK_THROWS_AS(readDeviceCode(fatBinaryWith({{2, cubin, 8, 0x4000, 8}}), ""), Error);
}

TEST_CASE("a cubin names its architecture, variables and the sizes of arguments") {
  const DeviceCode code = readCubin(cubinWith()).value();
  CHECK(code.architecture == "sm_90");
  REQUIRE(code.kernels.size() == 1);
  CHECK(code.kernels[0].name == "k");
  CHECK(code.kernels[0].parameters == Parameters{{0, 8}, {8, 4}, {16, 24}});
  CHECK(code.kernels[0].registers == 21);
  REQUIRE(code.variables.size() == 2);
  CHECK(code.variables[0].name == "counter");
  CHECK(!code.variables[0].isConstant);
  CHECK(code.variables[1].name == "coefficients");
  CHECK(code.variables[1].sizeBytes == 16);
  CHECK(code.variables[1].isConstant);
  CHECK(readCubin(cubinWith({}, 7, 0x5a055a))->architecture == "sm_90");
}

TEST_CASE("a cubin names arguments of more than 4 KiB, or none if it does so in an unknown way") {
  // A kernel of (32008 bytes, u64, u32), by ptxas 13.0.
  std::vector<uint32_t> words{0x000c4504, 0,          0x7d100002, 0x00000004, 0x000c4504,
                              0,          0x7d080001, 0x05000008, 0x000c4504, 0,
                              0x00000000, 0x00007d08, 0x00005003, 0x7d141903};
  const auto parameters = [&] { return readCubin(cubinWith(words))->kernels.at(0).parameters; };
  CHECK(parameters() == Parameters{{0, 32008}, {32008, 8}, {32016, 4}});
  words[0] = 0x000cff04;
  CHECK(!parameters()); // the last one is missing
  words[4] = 0x000cff04, words[8] = 0x000cff04;
  CHECK(!parameters()); // all are
  words = {0x00ff1b03};
  CHECK(parameters() == Parameters{});
}

TEST_CASE("PTX tells where arguments lie") {
  const DeviceCode code = readPtx(bytesOf(R"(
    /* a comment with .entry wrong() { } */ // .entry wrong() { }
    .version 8.0 .target sm_90a, debug .address_size 64
    .file 1 "a { b.cu"
    .extern .func (.param .b32 r) printf(.param .b64 a, .param .b64 b);
    .visible .func (.param .b32 r) helper(.param .b64 a) { .reg .b32 %r<2>; { ret; } }
    .weak .entry declared(.param .u64 a);
    .visible .entry first(
      .param .u8 a, .param .u64 .ptr .global .align 1 b, .param .f16x2 c,
      .param .align 16 .b8 d[24], .param .v4 .f32 e, .param .texref f, .param .b8 g[3]
    ) .maxntid 32, 4 .minnctapersm 2 { .reg .pred p; // }
      @p bra END; { .param .b32 x; } END: ret; }
    .entry second { ret; }
    .entry third() .reqntid 64 { ret; })"))
                              .value();
  CHECK(code.architecture == "sm_90a");
  REQUIRE(code.kernels.size() == 3);
  CHECK(code.kernels[0].name == "first");
  CHECK(code.kernels[0].parameters ==
        Parameters{{0, 1}, {8, 8}, {16, 4}, {32, 24}, {64, 16}, {80, 8}, {88, 3}});
  CHECK(code.kernels[0].maxThreads == 128);
  CHECK(code.kernels[0].exactThreads == 0);
  CHECK(code.kernels[1].parameters == Parameters{});
  CHECK(code.kernels[2].maxThreads == 64);
  CHECK(code.kernels[2].exactThreads == 64);
  CHECK(code.variables.empty());
}

TEST_CASE("PTX names variables with their sizes") {
  const DeviceCode code = readPtx(bytesOf(R"(.version 8.0
    .visible .global .align 4 .u32 counter = 5, later[2][3];
    .extern .global .align 4 .b8 elsewhere[16];
    .visible .const .align 8 .f64 factors[] = {1.0, 0d3FF0000000000000};
    .weak .global .attribute(.managed) .v2 .b32 pair;
    .global .texref picture;
    .global .align 8 .u64 table[2] = {counter, generic(later)+4};
    .extern .shared .align 16 .b8 dynamic[];)"))
                              .value();
  std::vector<std::pair<std::string, uint64_t>> found;
  for (const DeviceVariable& variable : code.variables)
    found.emplace_back(variable.name, variable.sizeBytes);
  CHECK(found == std::vector<std::pair<std::string, uint64_t>>{{"counter", 4},
                                                               {"later", 24},
                                                               {"factors", 16},
                                                               {"pair", 8},
                                                               {"picture", 8},
                                                               {"table", 16}});
  CHECK(code.variables[2].isConstant);
}

TEST_CASE("a parameter of a type that is not known leaves the kernel without a layout") {
  const auto kernel = [](const std::string& parameters) {
    return readPtx(bytesOf(".version 8.0\n.entry k(" + parameters + ") { ret; }"))->kernels.at(0);
  };
  CHECK(kernel(".param .u32 a").parameters == Parameters{{0, 4}});
  CHECK(!kernel(".param .u32 a, .param .strange b").parameters);
  CHECK(!kernel(".param .b8 a[99999999999999999999]").parameters);
}

TEST_CASE("a cubin of every ABI tells what its kernels use") {
  for (const char* file : {"uses.cubin", "uses_12.cubin"}) { // by ptxas 13.0 and 12.6
    CAPTURE(file);
    const DeviceCode code = readDeviceCode(readFile(std::string(IMAGES "/") + file), "sm_80");
    const DeviceKernel* uses = code.find("uses");
    REQUIRE(uses);
    CHECK(uses->registers == 14);
    CHECK(uses->registerLimit == 128); // two blocks of 256 threads
    CHECK(uses->staticSharedBytes == 4096);
    CHECK(uses->localBytes == 400);
    CHECK(uses->barriers == 4);
    CHECK(uses->constantBytes == std::map<uint32_t, uint64_t>{{0, 364}, {3, 64}});
    CHECK(uses->maxThreads == 256);
    CHECK(uses->exactThreads == 0);
    CHECK(uses->codeBytes == 1024);
    const DeviceKernel* plain = code.find("plain");
    REQUIRE(plain);
    CHECK(plain->registerLimit == 0);
    CHECK(plain->localBytes == 0);
    CHECK(plain->barriers == 0);
    CHECK(plain->constantBytes == std::map<uint32_t, uint64_t>{{0, 352}, {3, 64}});
  }
  const DeviceKernel ptx = readDeviceCode(readFile(IMAGES "/uses.ptx"), "sm_80").kernels.at(0);
  CHECK((!ptx.localBytes && !ptx.barriers && ptx.constantBytes.empty()));
}

TEST_CASE("damaged code gives an error or fewer facts, never a fault") {
  const auto read = [](Bytes bytes) { readDeviceCode(bytes, "sm_75"); };
  const Buffer cubin = contentOf(image("zstd"), 0);
  damage(cubin, read);
  damage(image("lz4"), read);
  damage(contentOf(image("zstd"), 3), read);
  damage(readFile(IMAGES "/uses_12.cubin"), read);
  for (size_t size = 0; size < cubin.size(); ++size)
    CHECK(!readCubin(Bytes(cubin).first(size)));
}

TEST_CASE("kernels that read what no recording holds are told from others") {
  using Reads = std::set<std::string>;
  const Reads heap = {"the device's heap"}, textures = {"textures"}, surfaces = {"surfaces"};
  const std::map<std::string, Reads> expected = {
      {"heap", heap},        {"heapByCall", heap},
      {"heapFree", heap},    {"fetch", textures},
      {"sample", textures},  {"query", textures},
      {"load", surfaces},    {"store", surfaces},
      {"stamp", {"clocks"}}, {"place", {"multiprocessor numbers"}},
      {"plain", {}}};
  for (const char* file : {"reads.cubin", "reads.ptx"}) {
    CAPTURE(file);
    const DeviceCode code = readDeviceCode(readFile(std::string(IMAGES "/") + file), "sm_90");
    std::map<std::string, Reads> found;
    for (const DeviceKernel& kernel : code.kernels)
      found[kernel.name] = kernel.unrecordedReads;
    CHECK(found == expected);
  }
}

TEST_CASE("where the barrier of a cooperative grid is, is nothing a recording lacks") {
  const auto readsOf = [](const std::string& name) {
    const std::string ptx =
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
        "mov.u32 %r1, %" +
        name + ";\nret;\n}\n";
    return readDeviceCode(bytesOf(ptx), "sm_90").kernels.at(0).unrecordedReads;
  };
  CHECK(readsOf("envreg1").empty());
  CHECK(readsOf("envreg2").empty());
  CHECK(readsOf("envreg12") == std::set<std::string>{"environment registers"});
}

TEST_CASE("kernels that write nothing are told from others") {
  for (const char* target : {"sm_75", "sm_90", "sm_120"}) {
    CAPTURE(target);
    const DeviceCode code = readDeviceCode(readFile(IMAGES "/waits.fatbin"), target);
    CHECK(code.form == CodeForm::Cubin);
    for (const char* name : {"spins", "acquires", "sleeps"})
      CHECK(code.find(name)->writesNothing);
    for (const char* name : {"writes", "adds", "stacks"})
      CHECK_FALSE(code.find(name)->writesNothing);
  }
  const DeviceCode code = readDeviceCode(readFile(IMAGES "/waits.ptx"), "sm_90");
  CHECK(code.find("spins")->writesNothing);
  CHECK(code.find("sleeps")->writesNothing);
  CHECK_FALSE(code.find("writes")->writesNothing);
  CHECK_FALSE(code.find("adds")->writesNothing);
  const DeviceCode reads = readDeviceCode(readFile(IMAGES "/reads.cubin"), "sm_90");
  for (const DeviceKernel& kernel : reads.kernels)
    CHECK_FALSE(kernel.writesNothing);
}

TEST_CASE("kernels that launch kernels are told; variables of the device runtime are left out") {
  for (const char* file : {"launches.fatbin", "launches.ptx"}) {
    CAPTURE(file);
    const DeviceCode code = readDeviceCode(readFile(std::string(IMAGES "/") + file), "sm_90");
    REQUIRE(code.find("parent"));
    CHECK(code.find("parent")->unrecordedReads == std::set<std::string>{"launches of its own"});
    CHECK(code.find("child")->unrecordedReads.empty());
    CHECK(code.find("plain")->unrecordedReads.empty());
    std::vector<std::string> variables;
    for (const DeviceVariable& variable : code.variables)
      if (!variable.name.starts_with("$str"))
        variables.push_back(variable.name);
    CHECK(variables == std::vector<std::string>{"counter"});
  }
}

TEST_CASE("kernels that set conditions of graphs are told from others in their code") {
  const Buffer cubin = readFile(IMAGES "/conditions.cubin");
  for (const Buffer& image :
       {cubin, readFile(IMAGES "/conditions.ptx"), fatBinaryWith({{2, cubin}})}) {
    const DeviceCode code = readDeviceCode(image, {});
    REQUIRE(code.kernels.size() == 3);
    for (const DeviceKernel& kernel : code.kernels) {
      const bool isChoosing = kernel.name.find("chooses") != std::string::npos;
      CHECK(kernel.unrecordedReads.contains("conditions of graphs") == isChoosing);
    }
  }
}
