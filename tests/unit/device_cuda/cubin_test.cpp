#include <doctest/doctest.h>

#include <cstring>

#include "runtime/devices/cuda/cubin.h"
#include "runtime/devices/cuda/ptx.h"
#include "support.h"
#include "tests/unit/base/elf_maker.h"

using namespace mneme::device::cuda;
using mneme::test::ElfMaker;

namespace {

constexpr uint16_t kMachine = 190;

std::vector<std::byte> bytesOf(const std::vector<uint32_t>& words) {
  std::vector<std::byte> bytes(words.size() * 4);
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

std::vector<std::byte> sampleCubin(uint8_t abi = 8, uint32_t flags = 0x6005a04) {
  ElfMaker elf;
  // Written by ptxas 13.0 for a kernel of (u64, u32, 24 bytes), last parameter first.
  elf.add(".nv.info.k", SHT_LOPROC,
          bytesOf({0x00043704, 0x00000082, 0x000c1704, 0, 0x00100002, 0x0061f000, 0x000c1704, 0,
                   0x00080001, 0x0011f000, 0x000c1704, 0, 0x00000000, 0x0021f000, 0x00005003,
                   0x00ff1b03}));
  const uint32_t global = elf.add(".nv.global.init", SHT_PROGBITS, bytesOf({5}));
  const uint32_t constant = elf.add(".nv.constant3", SHT_PROGBITS, bytesOf({1, 2, 3, 4}));
  const uint32_t bank = elf.add(".nv.constant0.k", SHT_PROGBITS, bytesOf({1}));
  const std::string names("\0counter\0coefficients\0other\0", 28);
  const uint32_t strings = elf.add(".strtab", SHT_STRTAB, names);
  Elf64_Sym symbols[4]{};
  symbols[1] = {1, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0, static_cast<uint16_t>(global), 0, 4};
  symbols[2] = {9, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0, static_cast<uint16_t>(constant), 0,
                16};
  symbols[3] = {22, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0, static_cast<uint16_t>(bank), 0, 4};
  elf.add(".symtab", SHT_SYMTAB, std::as_bytes(std::span(symbols)), strings);
  return elf.finish(kMachine, abi, flags);
}

/// The arguments of a kernel of (32008 bytes, u64, u32), written as above.
const std::vector<uint32_t> largeArguments{
    0x000c4504, 0,          0x7d100002, 0x00000004, 0x000c4504, 0,          0x7d080001,
    0x05000008, 0x000c4504, 0,          0x00000000, 0x00007d08, 0x00005003, 0x7d141903};

std::vector<std::byte> cubinOf(const std::vector<uint32_t>& arguments) {
  ElfMaker elf;
  elf.add(".nv.info.k", SHT_LOPROC, bytesOf(arguments));
  return elf.finish(kMachine, 8, 0x6005a04);
}

} // namespace

TEST_CASE("a cubin names its architecture, variables and arguments") {
  const CubinFacts facts = readCubin(sampleCubin(), "k");
  CHECK(facts.target == "sm_90");
  CHECK(facts.argumentSizes == std::vector<uint64_t>{8, 4, 24});
  REQUIRE(facts.variables.size() == 2);
  CHECK(facts.variables[0].name == "counter");
  CHECK(!facts.variables[0].isConstant);
  CHECK(facts.variables[1].name == "coefficients");
  CHECK(facts.variables[1].sizeBytes == 16);
  CHECK(facts.variables[1].isConstant);
  CHECK(readCubin(sampleCubin(7, 0x5a055a), "k").target == "sm_90");
  CHECK(!readCubin(sampleCubin(), "another").argumentSizes);
}

TEST_CASE("a cubin names arguments of more than 4 KiB") {
  CHECK(readCubin(cubinOf(largeArguments), "k").argumentSizes ==
        std::vector<uint64_t>{32008, 8, 4});
}

TEST_CASE("a cubin whose arguments are named in a way not known gives no sizes") {
  std::vector<uint32_t> words = largeArguments;
  words[0] = 0x000cff04;
  CHECK(!readCubin(cubinOf(words), "k").argumentSizes); // the last one is missing
  words[4] = 0x000cff04, words[8] = 0x000cff04;
  CHECK(!readCubin(cubinOf(words), "k").argumentSizes); // all are
  CHECK(readCubin(cubinOf({0x00ff1b03}), "k").argumentSizes == std::vector<uint64_t>{});
}

TEST_CASE("a damaged cubin gives fewer facts, never a fault") {
  const std::vector<std::byte> whole = sampleCubin();
  for (size_t size = 0; size < whole.size(); ++size)
    CHECK(readCubin(std::span(whole).first(size), "k").target.empty());
  for (size_t i = 0; i < whole.size(); ++i)
    for (const int bits : {0x01, 0x80, 0xff}) {
      std::vector<std::byte> damaged = whole;
      damaged[i] ^= std::byte(bits);
      readCubin(damaged, "k");
    }
}

TEST_CASE("PTX names its target") {
  CHECK(targetOfPtx(".version 8.0\n.target sm_90a, texmode_unified\n") == "sm_90a");
  CHECK(targetOfPtx("// nothing").empty());
}

TEST_CASE("PTX names the arguments of a kernel") {
  const std::string text = ".visible .entry kernel2(.param .u32 a) { ret; }\n"
                           ".visible .entry kernel(\n\t.param .u64 .ptr .global .align 1 k_p_0,\n"
                           "\t.param .f32 k_p_1,\n\t.param .align 8 .b8 k_p_2[24],\n"
                           "\t.param .b8 k_p_3\n)\n.maxntid 64\n{\n.reg .b64 %d<2>; ret; }\n"
                           ".entry none() { ret; }\n";
  CHECK(argumentSizesOfPtx(text, "kernel") == std::vector<uint64_t>{8, 4, 24, 1});
  CHECK(argumentSizesOfPtx(text, "kernel2") == std::vector<uint64_t>{4});
  CHECK(argumentSizesOfPtx(text, "none").empty());
  CHECK(argumentSizesOfPtx(text, "absent").empty());
  for (size_t size = 0; size < text.size(); ++size)
    argumentSizesOfPtx(std::string_view(text).substr(0, size), "kernel");
}

TEST_CASE("the variables of a loaded cubin have the driver's addresses") {
  const auto device = test::openFake();
  const auto module = device->load(sampleCubin(), "k", {});
  const auto globals = module->globals();
  REQUIRE(globals.size() == 1); // the driver does not name the other
  CHECK(globals[0].name == "coefficients");
  CHECK(globals[0].address == 0x7000);
  CHECK(globals[0].isConstant);
}
