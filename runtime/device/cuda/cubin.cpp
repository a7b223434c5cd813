#include "runtime/device/cuda/cubin.h"

#include <map>
#include <string_view>

#include "runtime/device/gpu/elf_file.h"

namespace mneme::device::cuda {

namespace {

constexpr uint16_t machineCuda = 190;
/// Attributes of a kernel are entries of 4 bytes: format, attribute, 16 bits of value; with this
/// format the value is the size of what follows.
constexpr uint8_t formatSized = 4;
constexpr uint8_t attributeParameter = 0x17;

using gpu::textAt;
using gpu::valueAt;
using Bytes = std::span<const std::byte>;

std::vector<CubinVariable> variablesOf(const std::vector<gpu::ElfSection>& sections) {
  std::vector<CubinVariable> variables;
  for (const gpu::ElfSection& table : sections) {
    if (table.header.sh_type != SHT_SYMTAB || table.header.sh_link >= sections.size())
      continue;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.bytes.size(); at += sizeof(Elf64_Sym)) {
      const auto symbol = valueAt<Elf64_Sym>(table.bytes, at);
      if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || symbol->st_shndx >= sections.size())
        continue;
      const std::string_view home = sections[symbol->st_shndx].name;
      const bool isConstant = home == ".nv.constant3";
      if (isConstant || home.starts_with(".nv.global"))
        variables.push_back({textAt(sections[table.header.sh_link].bytes, symbol->st_name),
                             symbol->st_size, isConstant});
    }
  }
  return variables;
}

std::vector<uint64_t> argumentSizesOf(const std::vector<gpu::ElfSection>& sections,
                                      const std::string& kernel) {
  std::map<uint32_t, uint64_t> sizes; // by position
  for (const gpu::ElfSection& section : sections) {
    if (section.name != ".nv.info." + kernel)
      continue;
    for (uint64_t at = 0; at + 4 <= section.bytes.size(); at += 4) {
      const auto format = *valueAt<uint8_t>(section.bytes, at);
      const auto attribute = *valueAt<uint8_t>(section.bytes, at + 1);
      if (format != formatSized)
        continue;
      const uint16_t size = *valueAt<uint16_t>(section.bytes, at + 2);
      const auto position = valueAt<uint16_t>(section.bytes, at + 8);
      const auto packed = valueAt<uint32_t>(section.bytes, at + 12);
      if (attribute == attributeParameter && position && packed)
        sizes[*position] = *packed >> 18;
      at += size;
    }
  }
  std::vector<uint64_t> result;
  for (const auto& [position, size] : sizes)
    result.push_back(size);
  return result;
}

} // namespace

CubinFacts readCubin(Bytes image, const std::string& kernel) {
  CubinFacts facts;
  const auto file = gpu::readElf(image, machineCuda);
  if (!file)
    return facts;
  // Version 8 of the ABI (CUDA 13) moved the architecture up by a byte.
  const unsigned shift = file->header.e_ident[EI_ABIVERSION] >= 8 ? 8 : 0;
  facts.target = "sm_" + std::to_string(file->header.e_flags >> shift & 0xff);
  facts.variables = variablesOf(file->sections);
  facts.argumentSizes = argumentSizesOf(file->sections, kernel);
  return facts;
}

} // namespace mneme::device::cuda
