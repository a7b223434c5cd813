// Room core/embed: blobs in the symbol table of a device ELF image.
#include <elf.h>

#include <cstring>
#include <set>
#include <string_view>

#include "runtime/core/abi/blob_format.h"
#include "runtime/core/abi/carried_ir.h"
#include "runtime/core/embed/containers.h"
#include "runtime/core/embed/elf_sections.h"

namespace mneme::embed {
namespace {

Elf64_Shdr sectionHeader(Bytes image, const Elf64_Ehdr& header, uint64_t index) {
  return readAt<Elf64_Shdr>(image, header.e_shoff + index * sizeof(Elf64_Shdr), "section table");
}

void visitSymbols(Bytes image, const Elf64_Ehdr& header, const Elf64_Shdr& table,
                  const VisitBlob& visit) {
  Bytes symbols = requireSlice(image, table.sh_offset, table.sh_size, "symbol table");
  Elf64_Shdr stringTable = sectionHeader(image, header, table.sh_link);
  Bytes strings =
      requireSlice(image, stringTable.sh_offset, stringTable.sh_size, "symbol name table");
  std::set<uint64_t> seen; // a damaged table may name one blob many times
  for (uint64_t offset = 0; offset + sizeof(Elf64_Sym) <= symbols.size();
       offset += sizeof(Elf64_Sym)) {
    auto symbol = readAt<Elf64_Sym>(symbols, offset, "symbol");
    std::optional<BlobKind> kind = blobKindOfSymbol(nameAt(strings, symbol.st_name));
    if (!kind || symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= header.e_shnum)
      continue;
    Elf64_Shdr section = sectionHeader(image, header, symbol.st_shndx);
    if (section.sh_type == SHT_NOBITS)
      continue;
    // Symbol values are offsets in the section (cubin) or addresses (linked code object).
    uint64_t value = symbol.st_value;
    if (section.sh_addr != 0 && value >= section.sh_addr)
      value -= section.sh_addr;
    Bytes content = requireSlice(image, section.sh_offset, section.sh_size, "section");
    if (!seen.insert(section.sh_offset + value).second)
      continue;
    visit(*kind, requireSlice(content, value, symbol.st_size, "kernel IR"));
  }
}

bool carriesIr(Bytes image) {
  return ElfSections(image)
      .find([](const ElfSection& section) { return section.name == kCarriedIrSection; })
      .has_value();
}

} // namespace

std::optional<BlobKind> blobKindOfSymbol(std::string_view name) {
  constexpr size_t kHashDigits = 16;
  auto isHash = [](std::string_view text) {
    return text.size() == kHashDigits &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  };
  std::string_view kernel = kKernelSymbolPrefix;
  std::string_view module = kModuleSymbolPrefix;
  if (name.starts_with(kernel) && isHash(name.substr(kernel.size())))
    return BlobKind::Kernel;
  if (name.starts_with(module) && isHash(name.substr(module.size())))
    return BlobKind::Module;
  return std::nullopt;
}

bool isElf(Bytes bytes) {
  return bytes.size() >= SELFMAG && std::memcmp(bytes.data(), ELFMAG, SELFMAG) == 0;
}

void visitElf(Bytes image, const VisitBlob& visit) {
  auto header = readAt<Elf64_Ehdr>(image, 0, "ELF header");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_shoff == 0)
    return;
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > image.size())
    throw Error(ErrorCode::ArtifactCorrupt,
                "the device image is damaged: its section table makes no sense");
  bool hasBlobs = false;
  for (uint64_t index = 0; index < header.e_shnum; ++index)
    if (Elf64_Shdr section = sectionHeader(image, header, index); section.sh_type == SHT_SYMTAB) {
      visitSymbols(image, header, section, [&](BlobKind kind, Bytes content) {
        hasBlobs = true;
        visit(kind, content);
      });
      break;
    }
  if (!hasBlobs && header.e_machine == EM_AMDGPU && carriesIr(image))
    visit(BlobKind::CodeObject, image);
}

} // namespace mneme::embed
