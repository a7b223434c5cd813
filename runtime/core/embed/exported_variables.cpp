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
  if (const std::optional<elf::File> file = readElf(codeObject))
    forEachVariable(*file, [&](const Elf64_Sym& symbol, std::string_view name) {
      if (ELF64_ST_BIND(symbol.st_info) != STB_LOCAL)
        found.emplace(name, symbol.st_size);
    });
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
