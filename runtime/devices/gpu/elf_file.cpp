#include "runtime/devices/gpu/elf_file.h"

namespace mneme::device::gpu {

namespace {

using Bytes = std::span<const std::byte>;

bool isInside(Bytes image, uint64_t offset, uint64_t sizeBytes) {
  return offset <= image.size() && sizeBytes <= image.size() - offset;
}

std::vector<ElfSection> sectionsOf(Bytes image, const Elf64_Ehdr& header) {
  std::vector<ElfSection> sections;
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
    for (ElfSection& section : sections)
      section.name = textAt(sections[header.e_shstrndx].bytes, section.header.sh_name);
  return sections;
}

bool isWhole(Bytes image, const Elf64_Ehdr& header, const std::vector<ElfSection>& sections) {
  if (sections.empty() || header.e_shentsize != sizeof(Elf64_Shdr) ||
      (header.e_phnum > 0 && header.e_phentsize != sizeof(Elf64_Phdr)) ||
      !isInside(image, header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr)))
    return false;
  for (const ElfSection& section : sections)
    if (section.header.sh_type != SHT_NOBITS && section.header.sh_type != SHT_NULL &&
        !isInside(image, section.header.sh_offset, section.header.sh_size))
      return false;
  for (uint16_t i = 0; i < header.e_phnum; ++i)
    if (const auto segment = valueAt<Elf64_Phdr>(image, header.e_phoff + i * sizeof(Elf64_Phdr));
        !isInside(image, segment->p_offset, segment->p_filesz))
      return false;
  return true;
}

} // namespace

std::string textAt(Bytes bytes, uint64_t offset) {
  if (offset >= bytes.size())
    return "";
  const char* begin = reinterpret_cast<const char*>(bytes.data()) + offset;
  return std::string(begin, strnlen(begin, bytes.size() - offset));
}

bool isElf(Bytes image) noexcept {
  return image.size() >= sizeof(Elf64_Ehdr) && std::memcmp(image.data(), ELFMAG, SELFMAG) == 0;
}

std::optional<ElfFile> readElf(Bytes image, uint16_t machine) {
  const auto header = valueAt<Elf64_Ehdr>(image, 0);
  if (!isElf(image) || header->e_machine != machine)
    return std::nullopt;
  ElfFile file{*header, sectionsOf(image, *header)};
  if (!isWhole(image, *header, file.sections))
    return std::nullopt;
  return file;
}

} // namespace mneme::device::gpu
