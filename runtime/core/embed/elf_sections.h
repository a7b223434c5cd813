// Room core/embed: sections of a device image. All throw Error{ArtifactCorrupt} where one that is
// asked for lies outside of it.
#pragma once

#include "runtime/core/base/elf_file.h"
#include "runtime/core/embed/byte_view.h"

namespace mneme::embed {

/// Returns nothing for files that are not 64-bit and little-endian.
/// \throws as above if the section table makes no sense
inline std::optional<elf::File> readElf(Bytes image) {
  requireSlice(image, 0, sizeof(Elf64_Ehdr), "ELF header");
  std::optional<elf::File> file = elf::File::in(image);
  if (!file || file->header().e_shoff == 0)
    return file;
  if (file->header().e_shentsize != sizeof(Elf64_Shdr) || file->header().e_shoff > image.size())
    throw Error(ErrorCode::ArtifactCorrupt,
                "the device image is damaged: its section table makes no sense");
  return file;
}

inline const elf::Section& sectionAt(const elf::File& file, uint64_t index) {
  if (index >= file.sections().size())
    refuseOutside("section table");
  return file.sections()[index];
}

inline Bytes contentOf(const elf::File& file, const elf::Section& section) {
  return require(file.content(section), "section");
}

/// Returns the first section for which `isWanted` holds; null if there is none. Those before it
/// must lie inside.
template <typename IsWanted>
const elf::Section* findSection(const elf::File& file, const IsWanted& isWanted) {
  if (const uint64_t names = file.header().e_shstrndx; names < file.sectionCount())
    contentOf(file, sectionAt(file, names));
  for (uint64_t index = 0; index < file.sectionCount(); ++index) {
    const elf::Section& section = sectionAt(file, index);
    contentOf(file, section);
    if (isWanted(section))
      return &section;
  }
  return nullptr;
}

/// Calls `visit(const Elf64_Sym&, std::string_view name)` for the variables that can be found by
/// name in the loaded image.
template <typename Visit> void forEachVariable(const elf::File& file, const Visit& visit) {
  const elf::Section* table =
      findSection(file, [](const elf::Section& one) { return one.header.sh_type == SHT_DYNSYM; });
  if (!table || table->header.sh_link >= file.sectionCount())
    return;
  const elf::Section& names = sectionAt(file, table->header.sh_link);
  elf::forEachSymbol(contentOf(file, *table), contentOf(file, names),
                     [&](const Elf64_Sym& symbol, std::string_view name) {
                       if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT &&
                           symbol.st_shndx != SHN_UNDEF && symbol.st_size > 0)
                         visit(symbol, name);
                     });
}

} // namespace mneme::embed
