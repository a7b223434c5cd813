#include <doctest/doctest.h>

#include <algorithm>

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

TEST_CASE("damaged code gives an error or fewer facts, never a fault") {
  const auto read = [](Bytes bytes) { readDeviceCode(bytes, "sm_75"); };
  const Buffer cubin = contentOf(image("zstd"), 0);
  damage(cubin, read);
  damage(image("lz4"), read);
  damage(contentOf(image("zstd"), 3), read);
  for (size_t size = 0; size < cubin.size(); ++size)
    CHECK(!readCubin(Bytes(cubin).first(size)));
}
