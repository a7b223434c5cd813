#include <doctest/doctest.h>

#include <random>

#include "image_maker.h"
#include "runtime/base/error.h"
#include "runtime/embed/blob_format.h"
#include "runtime/embed/kernel_blob.h"

using namespace mneme;
using namespace mneme::embed;
using namespace mneme::embed::test;

namespace {

Symbol kernelSymbol(const std::string& kernel, uint64_t hash, const std::string& undefined = "[]",
                    const std::string& arch = "sm_90") {
  return {symbolFor(kKernelSymbolPrefix, hash), blobFor(kernel, hash, undefined, arch)};
}

Symbol moduleSymbol(uint64_t hash, const std::string& arch = "sm_90") {
  return {symbolFor(kModuleSymbolPrefix, hash), blobFor("", hash, "[]", arch)};
}

Buffer sampleFatBinary() {
  Buffer elf = elfWith({{"unrelated", bytesOf("abc")},
                        kernelSymbol("add", 1),
                        kernelSymbol("mul", 2, R"(["shared"])"),
                        moduleSymbol(3)});
  return fatBinaryWith({{1, bytesOf(ptxWith({kernelSymbol("fromPtx", 4)}))}, {2, elf}});
}

} // namespace

TEST_CASE("kernels are found in every member of a fat binary") {
  Buffer fatBinary = sampleFatBinary();
  BlobSet set = readDeviceImage(fatBinary);
  CHECK(set.kernels.size() == 3);
  CHECK(set.modules.size() == 1);
  CHECK(readFatBinary(fatBinary.data()).kernels.size() == 3);
  CHECK(readFatBinary(nullptr).kernels.empty());
}

TEST_CASE("compressed and unknown members are skipped") {
  Buffer elf = elfWith({kernelSymbol("add", 1)});
  BlobSet set = readDeviceImage(
      fatBinaryWith({{2, bytesOf("packed"), 6}, {16, bytesOf("??")}, {2, elf}}));
  CHECK(set.kernels.size() == 1);
}

TEST_CASE("the first architecture's blob of a kernel is kept, with modules of the same") {
  Buffer old = elfWith({kernelSymbol("add", 1, R"(["f"])", "sm_80"), moduleSymbol(2, "sm_80")});
  Buffer recent = elfWith({kernelSymbol("add", 3, R"(["f"])"), moduleSymbol(4)});
  BlobSet set = readDeviceImage(fatBinaryWith({{2, old}, {2, recent}}));
  CHECK(set.kernels.at("add")->staticHash == 1);
  auto modules = modulesFor(set, "add");
  REQUIRE(modules.size() == 2);
  CHECK(modules[0]->staticHash == 1);
  CHECK(modules[1]->staticHash == 2);
}

TEST_CASE("shared code is linked only to kernels that need it") {
  BlobSet set = readDeviceImage(sampleFatBinary());
  CHECK(modulesFor(set, "add").size() == 1);
  CHECK(modulesFor(set, "mul").size() == 2);
  CHECK(modulesFor(set, "absent").empty());
}

TEST_CASE("bare ELF images, PTX and bundles are read") {
  Buffer elf = elfWith({kernelSymbol("add", 1)});
  CHECK(readDeviceImage(elf).kernels.count("add") == 1);
  CHECK(readFatBinary(elf.data()).kernels.count("add") == 1);
  CHECK(readDeviceImage(bytesOf(ptxWith({kernelSymbol("add", 1)}))).kernels.count("add") == 1);
  Buffer bundle = bundleWith({{}, elf});
  CHECK(readDeviceImage(bundle).kernels.count("add") == 1);
  CHECK(readFatBinary(bundle.data()).kernels.count("add") == 1);
}

TEST_CASE("what holds no blob gives an empty result") {
  CHECK(readDeviceImage({}).kernels.empty());
  CHECK(readDeviceImage(bytesOf("hello")).kernels.empty());
  CHECK(readDeviceImage(elfWith({{"gv", bytesOf("1234")}})).kernels.empty());
  CHECK(readDeviceImage(elfWith({{"__mneme_module_entry", bytesOf("1234")}})).kernels.empty());
  CHECK(readDeviceImage(bytesOf(".version 8.0\n.target sm_90\n")).kernels.empty());
}

TEST_CASE("a damaged blob inside a container is refused") {
  Symbol symbol = kernelSymbol("add", 1);
  symbol.content.resize(symbol.content.size() - 3);
  CHECK_THROWS_AS(readDeviceImage(elfWith({symbol})), Error);
}

TEST_CASE("mutated containers neither crash nor hang") {
  const std::vector<Buffer> originals{sampleFatBinary(), elfWith({kernelSymbol("add", 1)}),
                                      bundleWith({elfWith({kernelSymbol("add", 1)})}),
                                      bytesOf(ptxWith({kernelSymbol("add", 1)}))};
  std::mt19937 random(20240607);
  for (int round = 0; round < 20000; ++round) {
    Buffer damaged = originals[random() % originals.size()];
    // Headers and tables are at the beginning and the end; blobs in between guard themselves.
    for (unsigned count = random() % 8 + 1; count > 0; --count) {
      size_t window = std::min<size_t>(damaged.size(), 400);
      size_t at = random() % window;
      if (random() % 2)
        at = damaged.size() - 1 - at;
      constexpr unsigned kNasty[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
      damaged[at] = random() % 2 ? std::byte(kNasty[random() % 5]) : std::byte(random() & 0xff);
    }
    if (random() % 4 == 0)
      damaged.resize(random() % (damaged.size() + 1));
    try {
      readDeviceImage(damaged);
    } catch (const Error& failure) {
      CHECK((failure.code() == ErrorCode::ArtifactCorrupt ||
             failure.code() == ErrorCode::Unsupported));
    }
  }
}
