// Room core/embed: sections of an ELF file in memory.
#pragma once

#include <elf.h>

#include <cstring>
#include <optional>
#include <string_view>

#include "runtime/core/embed/byte_view.h"

namespace mneme::embed {

inline std::string_view nameAt(Bytes strings, uint64_t offset) {
  if (offset >= strings.size())
    return {};
  const auto* begin = reinterpret_cast<const char*>(strings.data()) + offset;
  return {begin, strnlen(begin, strings.size() - offset)};
}

struct ElfSection {
  Elf64_Shdr header;
  std::string_view name;
  Bytes content; ///< empty if the file has none
};

/// The sections of a 64-bit little-endian ELF file. Every member may throw Error{ArtifactCorrupt}.
class ElfSections {
public:
  explicit ElfSections(Bytes file) : file_(file), elf_(readAt<Elf64_Ehdr>(file, 0, "ELF header")) {
    if (elf_.e_shoff != 0 && (elf_.e_shentsize != sizeof(Elf64_Shdr) || elf_.e_shoff > file.size()))
      throw Error(ErrorCode::ArtifactCorrupt,
                  "the device image is damaged: its section table makes no sense");
    if (elf_.e_shstrndx < count())
      names_ = contentOf(headerAt(elf_.e_shstrndx));
  }

  uint64_t count() const { return elf_.e_shoff == 0 ? 0 : elf_.e_shnum; }
  ElfSection at(uint64_t index) const {
    const Elf64_Shdr header = headerAt(index);
    return {header, nameAt(names_, header.sh_name), contentOf(header)};
  }
  /// Returns the first section for which `isWanted` holds.
  template <typename IsWanted> std::optional<ElfSection> find(const IsWanted& isWanted) const {
    for (uint64_t index = 0; index < count(); ++index)
      if (ElfSection section = at(index); isWanted(section))
        return section;
    return std::nullopt;
  }

private:
  Elf64_Shdr headerAt(uint64_t index) const {
    return readAt<Elf64_Shdr>(file_, elf_.e_shoff + index * sizeof(Elf64_Shdr), "section table");
  }
  Bytes contentOf(const Elf64_Shdr& header) const {
    return header.sh_type == SHT_NOBITS || header.sh_type == SHT_NULL
               ? Bytes{}
               : requireSlice(file_, header.sh_offset, header.sh_size, "section");
  }

  Bytes file_;
  Elf64_Ehdr elf_;
  Bytes names_;
};

} // namespace mneme::embed
