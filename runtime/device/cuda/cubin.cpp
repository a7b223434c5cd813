#include "runtime/device/cuda/cubin.h"

#include <cstring>
#include <map>
#include <optional>
#include <string_view>

#include <elf.h>

namespace mneme::device::cuda {

namespace {

constexpr uint16_t machineCuda = 190;
/// Attributes of a kernel are entries of 4 bytes: format, attribute, 16 bits of value; with this
/// format the value is the size of what follows.
constexpr uint8_t formatSized = 4;
constexpr uint8_t attributeParameter = 0x17;

using Bytes = std::span<const std::byte>;

template <typename Value> std::optional<Value> valueAt(Bytes bytes, uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(Value))
    return std::nullopt;
  Value value;
  std::memcpy(&value, bytes.data() + offset, sizeof(Value));
  return value;
}

std::string textAt(Bytes bytes, uint64_t offset) {
  if (offset >= bytes.size())
    return "";
  const char* begin = reinterpret_cast<const char*>(bytes.data()) + offset;
  return std::string(begin, strnlen(begin, bytes.size() - offset));
}

struct Section {
  Elf64_Shdr header;
  std::string name;
  Bytes bytes;
};

bool isInside(Bytes image, uint64_t offset, uint64_t sizeBytes) {
  return offset <= image.size() && sizeBytes <= image.size() - offset;
}

std::vector<Section> sectionsOf(Bytes image, const Elf64_Ehdr& header) {
  std::vector<Section> sections;
  for (uint32_t i = 0; i < header.e_shnum; ++i) {
    const auto section = valueAt<Elf64_Shdr>(image, header.e_shoff + i * sizeof(Elf64_Shdr));
    if (!section)
      return {};
    Bytes bytes;
    if (section->sh_type != SHT_NOBITS && isInside(image, section->sh_offset, section->sh_size))
      bytes = image.subspan(section->sh_offset, section->sh_size);
    sections.push_back({*section, "", bytes});
  }
  if (header.e_shstrndx < sections.size())
    for (Section& section : sections)
      section.name = textAt(sections[header.e_shstrndx].bytes, section.header.sh_name);
  return sections;
}

bool isWhole(Bytes image, const Elf64_Ehdr& header, const std::vector<Section>& sections) {
  if (sections.empty() || header.e_shentsize != sizeof(Elf64_Shdr) ||
      (header.e_phnum > 0 && header.e_phentsize != sizeof(Elf64_Phdr)) ||
      !isInside(image, header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr)))
    return false;
  for (const Section& section : sections)
    if (section.header.sh_type != SHT_NOBITS && section.header.sh_type != SHT_NULL &&
        !isInside(image, section.header.sh_offset, section.header.sh_size))
      return false;
  for (uint16_t i = 0; i < header.e_phnum; ++i)
    if (const auto segment = valueAt<Elf64_Phdr>(image, header.e_phoff + i * sizeof(Elf64_Phdr));
        !isInside(image, segment->p_offset, segment->p_filesz))
      return false;
  return true;
}

std::vector<CubinVariable> variablesOf(const std::vector<Section>& sections) {
  std::vector<CubinVariable> variables;
  for (const Section& table : sections) {
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

std::vector<uint64_t> argumentSizesOf(const std::vector<Section>& sections,
                                      const std::string& kernel) {
  std::map<uint32_t, uint64_t> sizes; // by position
  for (const Section& section : sections) {
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

bool isElf(Bytes image) noexcept {
  return image.size() >= sizeof(Elf64_Ehdr) && std::memcmp(image.data(), ELFMAG, SELFMAG) == 0;
}

CubinFacts readCubin(Bytes image, const std::string& kernel) {
  CubinFacts facts;
  const auto header = valueAt<Elf64_Ehdr>(image, 0);
  if (!isElf(image) || header->e_machine != machineCuda)
    return facts;
  const std::vector<Section> sections = sectionsOf(image, *header);
  if (!isWhole(image, *header, sections))
    return facts;
  // Version 8 of the ABI (CUDA 13) moved the architecture up by a byte.
  const unsigned shift = header->e_ident[EI_ABIVERSION] >= 8 ? 8 : 0;
  facts.target = "sm_" + std::to_string(header->e_flags >> shift & 0xff);
  facts.variables = variablesOf(sections);
  facts.argumentSizes = argumentSizesOf(sections, kernel);
  return facts;
}

} // namespace mneme::device::cuda
