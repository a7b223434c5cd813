#include "runtime/core/embed/exported_variables.h"

#include <optional>
#include <utility>
#include <vector>

#include "runtime/core/embed/containers.h"
#include "runtime/core/embed/elf_sections.h"

namespace mneme::embed {
namespace {

using Variables = std::map<std::string, uint64_t>;

Variables variablesIn(Bytes codeObject) {
  Variables found;
  const ElfSections elf(codeObject);
  const auto table = elf.find([](const ElfSection& s) { return s.header.sh_type == SHT_DYNSYM; });
  if (!table || table->header.sh_link >= elf.count())
    return found;
  const ElfSection strings = elf.at(table->header.sh_link);
  for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table->content.size(); at += sizeof(Elf64_Sym)) {
    const auto symbol = readAt<Elf64_Sym>(table->content, at, "symbol");
    if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_shndx != SHN_UNDEF &&
        ELF64_ST_BIND(symbol.st_info) != STB_LOCAL && symbol.st_size > 0)
      found.emplace(nameAt(strings.content, symbol.st_name), symbol.st_size);
  }
  return found;
}

} // namespace

std::map<std::string, uint64_t> exportedVariables(Bytes bundle) {
  std::vector<std::byte> expanded;
  if (isCompressedBundle(bundle))
    bundle = expanded = expandBundle(bundle);
  std::optional<Variables> common;
  const auto visit = [&](Bytes codeObject) {
    Variables found = variablesIn(codeObject);
    if (common)
      std::erase_if(*common, [&](const auto& variable) { return !found.contains(variable.first); });
    else
      common = std::move(found);
  };
  if (isOffloadBundle(bundle))
    visitCodeObjects(bundle, visit);
  return common.value_or(Variables());
}

} // namespace mneme::embed
