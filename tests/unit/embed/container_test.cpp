#include <doctest/doctest.h>

#include <zstd.h>

#include <algorithm>
#include <random>

#include "image_maker.h"
#include "runtime/core/abi/blob_format.h"
#include "runtime/core/base/error.h"
#include "runtime/core/embed/blob_set.h"
#include "runtime/core/embed/containers.h"
#include "runtime/core/embed/member_compression.h"

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
  Buffer ptx = bytesOf(ptxWith({kernelSymbol("fromPtx", 4)}));
  Buffer frame(ZSTD_compressBound(ptx.size()));
  frame.resize(ZSTD_compress(frame.data(), frame.size(), ptx.data(), ptx.size(), 3));
  return fatBinaryWith({{1, frame, uint32_t(frame.size()), 0x8011, ptx.size()}, {2, elf}});
}

} // namespace

TEST_CASE("kernels are found in every member of a fat binary") {
  Buffer fatBinary = sampleFatBinary();
  BlobSet set = readDeviceImage(fatBinary);
  CHECK(set.kernels.size() == 3);
  CHECK(set.modules.size() == 1);
  CHECK(readFatBinary(fatBinary.data()).kernels.size() == 3);
  CHECK(readFatBinary(nullptr).kernels.empty());
  CHECK(readFatBinary("").kernels.empty());
  CHECK(readFatBinary("no image of any kind").kernels.empty());
}

TEST_CASE("a member is added behind the others") {
  const Buffer ptx = bytesOf(ptxWith({kernelSymbol("later", 5)}));
  const Buffer before = sampleFatBinary();
  const Buffer longer = withMember(before, elfWith({kernelSymbol("sub", 6)}), 90);
  const Buffer all = withMember(longer, ptx, 100);
  const std::vector<FatMember> members = fatBinaryMembers(all);
  REQUIRE(members.size() == 4);
  CHECK(members[0].form == CodeForm::Ptx);
  CHECK(members[2].form == CodeForm::Cubin);
  CHECK(members[2].architecture == 90);
  CHECK(members[3].form == CodeForm::Ptx);
  CHECK(members[3].architecture == 100);
  CHECK(readDeviceImage(all).kernels.size() == 5);
  CHECK(std::equal(before.begin() + 16, before.end(), all.begin() + 16));
  CHECK(fatBinaryMembers(withMember({}, ptx, 75)).size() == 1);
  CHECK_THROWS_AS(fatBinaryMembers(Bytes(all).first(all.size() - 1)), Error);
}

TEST_CASE("members of an unknown kind or compression are skipped") {
  Buffer elf = elfWith({kernelSymbol("add", 1)});
  BlobSet set =
      readDeviceImage(fatBinaryWith({{2, bytesOf("packed"), 6}, {16, bytesOf("??")}, {2, elf}}));
  CHECK(set.kernels.size() == 1);
}

TEST_CASE("members of debug builds are expanded") {
  Buffer elf = elfWith({kernelSymbol("add", 1)});
  Buffer frame(ZSTD_compressBound(elf.size()));
  frame.resize(ZSTD_compress(frame.data(), frame.size(), elf.data(), elf.size(), 3));
  uint32_t packed = frame.size();
  frame.resize((frame.size() + 7) / 8 * 8); // members are padded
  Buffer good = fatBinaryWith({{2, frame, packed, 0x8011, elf.size()}});
  CHECK(readDeviceImage(good).kernels.count("add") == 1);
  CHECK_THROWS_AS(readDeviceImage(fatBinaryWith({{2, frame, packed, 0x8011, elf.size() + 1}})),
                  Error);
  CHECK_THROWS_AS(readDeviceImage(fatBinaryWith({{2, frame, packed, 0x8011, UINT64_MAX}})), Error);
}

TEST_CASE("LZ4 blocks expand to what their sequences say") {
  // Two literals and a match that overlaps itself, then five literals.
  Buffer block = bytesOf(std::string("\x24"
                                     "ab"
                                     "\x02\x00"
                                     "\x50"
                                     "vwxyz",
                                     11));
  CHECK(expandLz4(block, 15) == bytesOf("ababababab"
                                        "vwxyz"));
  CHECK_THROWS_AS(expandLz4(block, 14), Error);
  CHECK_THROWS_AS(expandLz4(block, 16), Error);
  CHECK_THROWS_AS(expandLz4(Buffer(block.begin(), block.end() - 1), 15), Error);
  block[3] = std::byte{3}; // a match from before the beginning
  CHECK_THROWS_AS(expandLz4(block, 15), Error);
  // A length of 15 continues in the following bytes.
  Buffer longRun = bytesOf(std::string("\x1f"
                                       "a"
                                       "\x01\x00"
                                       "\xff\x01"
                                       "\x50"
                                       "vwxyz",
                                       12));
  CHECK(expandLz4(longRun, 1 + 15 + 255 + 1 + 4 + 5).size() == 281);
}

TEST_CASE("a module that is in machine code and in PTX is one") {
  const Buffer image = elfWith({moduleSymbol(2)});
  const Buffer other = elfWith({moduleSymbol(2), moduleSymbol(3)});
  CHECK(readDeviceImage(fatBinaryWith({{2, image}, {2, other}})).modules.size() == 2);
}

TEST_CASE("a module of one unit's image and of the linked one is one") {
  BlobSet all =
      readDeviceImage(elfWith({kernelSymbol("add", 1, R"(["shared"])"), moduleSymbol(3)}));
  add(all, readDeviceImage(elfWith({kernelSymbol("add", 1, R"(["shared"])"), kernelSymbol("mul", 2),
                                    moduleSymbol(3), moduleSymbol(4)})));
  CHECK(all.kernels.size() == 2);
  CHECK(all.modules.size() == 2);
  CHECK(modulesFor(all, "add").size() == 3);
  CHECK(all.architectures.size() == 1);
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

/// A module of shared code that has and lacks these names; null: of an earlier release.
Symbol moduleWith(uint64_t hash, const char* offers, const std::string& undefined = "[]",
                  bool callsPointers = false) {
  std::string metadata = metadataFor("", hash);
  metadata.replace(metadata.find(R"("undefined":[])"), 14, R"("undefined":)" + undefined);
  if (offers)
    metadata.insert(1, std::string(R"("offers":)") + offers + ',');
  if (callsPointers)
    metadata.insert(1, R"("calls_pointers":true,)");
  return {symbolFor(kModuleSymbolPrefix, hash), blobWith(metadata, "x", hash)};
}

TEST_CASE("of shared code a kernel gets what it calls, and what that calls") {
  const Symbol kernel{kernelSymbol("add", 1, R"(["f"])")};
  const auto linked = [&](const std::vector<Symbol>& modules) {
    std::vector<Symbol> symbols = modules;
    symbols.push_back(kernel);
    std::vector<uint64_t> hashes;
    for (const auto& module : modulesFor(readDeviceImage(elfWith(symbols)), "add"))
      hashes.push_back(module->staticHash);
    return hashes;
  };
  const Symbol f = moduleWith(2, R"(["h","f"])", R"(["g"])");
  const Symbol g = moduleWith(3, R"(["g"])");
  const Symbol other = moduleWith(4, R"(["other"])");
  CHECK(linked({other, f, g}) == std::vector<uint64_t>{1, 2, 3});
  CHECK(linked({other, g}) == std::vector<uint64_t>{1});
  CHECK(linked({moduleWith(5, R"(["state"])"), f}) == std::vector<uint64_t>{1, 5, 2});
  CHECK(linked({moduleWith(6, nullptr), other}) == std::vector<uint64_t>{1, 6});
  // A pointer may lead to a function of any unit that gives some away.
  Symbol table = moduleWith(7, R"(["table"])");
  std::string metadata = metadataFor("", 7);
  metadata.replace(metadata.find(R"("name":"state")"), 14, R"("name":"table","functions":true)");
  metadata.insert(1, R"("offers":["table"],)");
  table.content = blobWith(metadata, "x", 7);
  CHECK(linked({other, table, f}) == std::vector<uint64_t>{1, 2});
  CHECK(linked({other, table, moduleWith(8, R"(["f"])", "[]", true)}) ==
        std::vector<uint64_t>{1, 4, 7, 8});
}

TEST_CASE("shared code is linked to kernels that use a variable of another unit") {
  std::string metadata = metadataFor("add", 1);
  size_t at = metadata.find("\"defined\":true");
  metadata.replace(at, 14, "\"defined\":false");
  Symbol symbol{symbolFor(kKernelSymbolPrefix, 1), blobWith(metadata, "x", 1)};
  CHECK(modulesFor(readDeviceImage(elfWith({symbol, moduleSymbol(3)})), "add").size() == 2);
}

TEST_CASE("bare ELF images, PTX and bundles are read") {
  Buffer elf = elfWith({kernelSymbol("add", 1)});
  CHECK(readDeviceImage(elf).kernels.count("add") == 1);
  CHECK(readFatBinary(elf.data()).kernels.count("add") == 1);
  CHECK(readDeviceImage(bytesOf(ptxWith({kernelSymbol("add", 1)}))).kernels.count("add") == 1);
  CHECK(readFatBinary(ptxWith({kernelSymbol("add", 1)}).c_str()).kernels.count("add") == 1);
  Buffer bundle = bundleWith({{}, elf});
  CHECK(readDeviceImage(bundle).kernels.count("add") == 1);
  CHECK(readFatBinary(bundle.data()).kernels.count("add") == 1);
}

TEST_CASE("compressed bundles are read") {
  Buffer bundle = bundleWith({elfWith({kernelSymbol("add", 1)})});
  for (unsigned version : {2u, 3u}) {
    Buffer packed = compressedBundleWith(bundle, version);
    CHECK(readDeviceImage(packed).kernels.count("add") == 1);
    CHECK(readFatBinary(packed.data()).kernels.count("add") == 1);
    packed.pop_back();
    CHECK_THROWS_AS(readDeviceImage(packed), Error);
  }
  CHECK(readDeviceImage(compressedBundleWith(bundle, 9)).kernels.empty());
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
