// Room core/embed: blobs in the symbol table of a device ELF image.
#include <set>
#include <string_view>

#include "runtime/core/abi/blob_format.h"
#include "runtime/core/abi/carried_ir.h"
#include "runtime/core/embed/containers.h"
#include "runtime/core/embed/elf_sections.h"

namespace mneme::embed {
namespace {

void visitSymbols(const elf::File& file, const elf::Section& table, const VisitBlob& visit) {
  const Bytes symbols = require(file.content(table), "symbol table");
  const Bytes names =
      require(file.content(sectionAt(file, table.header.sh_link)), "symbol name table");
  std::set<uint64_t> seen; // a damaged table may name one blob many times
  elf::forEachSymbol(symbols, names, [&](const Elf64_Sym& symbol, std::string_view name) {
    const std::optional<BlobKind> kind = blobKindOfSymbol(name);
    if (!kind || symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= file.sectionCount())
      return;
    const elf::Section& section = sectionAt(file, symbol.st_shndx);
    const Elf64_Shdr& header = section.header;
    if (header.sh_type == SHT_NOBITS)
      return;
    // Symbol values are offsets in the section (cubin) or addresses (linked code object).
    uint64_t value = symbol.st_value;
    if (header.sh_addr != 0 && value >= header.sh_addr)
      value -= header.sh_addr;
    const Bytes content = contentOf(file, section);
    if (seen.insert(header.sh_offset + value).second)
      visit(*kind, requireSlice(content, value, symbol.st_size, "kernel IR"));
  });
}

bool carriesIr(const elf::File& file) {
  return findSection(file, [](const elf::Section& one) { return one.name == kCarriedIrSection; });
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

void visitElf(Bytes image, const VisitBlob& visit) {
  const std::optional<elf::File> file = readElf(image);
  if (!file)
    return;
  bool hasBlobs = false;
  for (uint64_t index = 0; index < file->sectionCount(); ++index)
    if (const elf::Section& section = sectionAt(*file, index);
        section.header.sh_type == SHT_SYMTAB) {
      visitSymbols(*file, section, [&](BlobKind kind, Bytes content) {
        hasBlobs = true;
        visit(kind, content);
      });
      break;
    }
  if (!hasBlobs && file->header().e_machine == EM_AMDGPU && carriesIr(*file))
    visit(BlobKind::CodeObject, image);
}

} // namespace mneme::embed
