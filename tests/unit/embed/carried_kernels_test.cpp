#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <random>
#include <string>
#include <vector>

#include "runtime/core/abi/carried_ir.h"
#include "runtime/core/base/error.h"
#include "runtime/core/embed/blob_set.h"
#include "tests/unit/base/elf_maker.h"

using namespace mneme;
using namespace mneme::embed;
using nlohmann::json;

namespace {

using Buffer = std::vector<std::byte>;

void append(Buffer& to, const void* bytes, size_t size) {
  const auto* begin = static_cast<const std::byte*>(bytes);
  to.insert(to.end(), begin, begin + size);
}

Buffer noteWith(const json& metadata) {
  const std::vector<uint8_t> packed = json::to_msgpack(metadata);
  const Elf64_Nhdr header{7, static_cast<Elf64_Word>(packed.size()), 32};
  Buffer note;
  append(note, &header, sizeof header);
  append(note, "AMDGPU\0", 8);
  append(note, packed.data(), packed.size());
  note.resize((note.size() + 3) / 4 * 4);
  return note;
}

/// A code object with these sections: name, type, content.
Buffer codeObject(const std::vector<std::tuple<std::string, uint32_t, Buffer>>& sections) {
  mneme::test::ElfMaker elf;
  for (const auto& [name, type, content] : sections)
    elf.add(name, type, content);
  return elf.finish(EM_AMDGPU);
}

json argument(uint64_t offset, uint64_t size, const char* kind) {
  return {{".offset", offset}, {".size", size}, {".value_kind", kind}};
}

Buffer sample() {
  const json kernel = {{".name", "scale"},
                       {".group_segment_fixed_size", 256},
                       {".max_flat_workgroup_size", 512},
                       {".args",
                        {argument(0, 8, "global_buffer"), argument(8, 4, "by_value"),
                         argument(16, 8, "by_value"), argument(24, 4, "hidden_block_count_x")}}};
  const json metadata = {{"amdhsa.target", "amdgcn-amd-amdhsa--gfx90a:xnack-"},
                         {"amdhsa.kernels", {kernel}}};
  return codeObject({{".note", SHT_NOTE, noteWith(metadata)},
                     {kCarriedIrSection, SHT_PROGBITS, Buffer(7, std::byte{'I'})}});
}

} // namespace

TEST_CASE("the kernels of a code object that carries its IR are read from its metadata") {
  const BlobSet set = readDeviceImage(sample());
  REQUIRE(set.kernels.contains("scale"));
  const KernelBlob& kernel = *set.kernels.at("scale");
  CHECK(kernel.arch == "gfx90a");
  CHECK(kernel.bitcode.size() == 7);
  CHECK(kernel.sharedBytes == 256);
  CHECK(kernel.maxThreads == 512);
  REQUIRE(kernel.args.size() == 3);
  CHECK(kernel.args[1].sizeBytes == 4);
  CHECK(kernel.args[2].alignBytes == 16); // behind the 12 bytes before it
}

TEST_CASE("a code object without metadata, or with other, is refused") {
  const Buffer ir(7, std::byte{'I'});
  CHECK_THROWS_AS(readDeviceImage(codeObject({{kCarriedIrSection, SHT_PROGBITS, ir}})), Error);
  const Buffer note = noteWith({{"amdhsa.kernels", "none"}});
  CHECK_THROWS_AS(readDeviceImage(codeObject(
                      {{".note", SHT_NOTE, note}, {kCarriedIrSection, SHT_PROGBITS, ir}})),
                  Error);
  CHECK(readDeviceImage(codeObject({{".note", SHT_NOTE, note}})).kernels.empty());
}

TEST_CASE("a damaged code object is refused or read, and nothing worse") {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    Buffer damaged = sample();
    for (int flips = 0; flips < 3; ++flips)
      damaged[random() % damaged.size()] = static_cast<std::byte>(random());
    if (round % 3 == 0)
      damaged.resize(random() % damaged.size());
    try {
      readDeviceImage(damaged);
    } catch (const Error&) {
    }
  }
}
