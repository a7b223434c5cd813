#include "runtime/devices/cuda/hidden_symbols.h"

#include <cstring>
#include <fstream>
#include <vector>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "runtime/core/base/own_descriptors.h"

namespace mneme::device::cuda {
namespace {

constexpr uint64_t kMostTableBytes = uint64_t{1} << 30;

template <typename T> bool readAt(std::ifstream& file, uint64_t offset, std::vector<T>& out) {
  if (out.size() > kMostTableBytes / sizeof(T))
    return false;
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  const auto size = static_cast<std::streamsize>(out.size() * sizeof(T));
  return static_cast<bool>(file.read(reinterpret_cast<char*>(out.data()), size));
}

/// A symbol table and the names it refers to.
struct Table {
  std::vector<Elf64_Sym> symbols;
  std::vector<char> names;
};

Table readTable(std::ifstream& file) {
  std::vector<Elf64_Ehdr> header(1);
  if (!readAt(file, 0, header) || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      header[0].e_ident[EI_CLASS] != ELFCLASS64 || header[0].e_shentsize != sizeof(Elf64_Shdr))
    return {};
  std::vector<Elf64_Shdr> sections(header[0].e_shnum);
  if (!readAt(file, header[0].e_shoff, sections))
    return {};
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size() ||
        section.sh_size > kMostTableBytes || sections[section.sh_link].sh_size > kMostTableBytes)
      continue;
    Table table;
    table.symbols.resize(section.sh_size / sizeof(Elf64_Sym));
    table.names.resize(sections[section.sh_link].sh_size + 1); // ends with a zero
    std::vector<char> names(table.names.size() - 1);
    if (!readAt(file, section.sh_offset, table.symbols) ||
        !readAt(file, sections[section.sh_link].sh_offset, names))
      return {};
    std::memcpy(table.names.data(), names.data(), names.size());
    return table;
  }
  return {};
}

} // namespace

HiddenSymbols::HiddenSymbols(const void* address, const std::string& prefix) noexcept {
  try {
    Dl_info info{};
    link_map* map = nullptr;
    if (!address || !dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) ||
        !map)
      return;
    const bool isProgram = !map->l_name || !*map->l_name;
    read(isProgram ? "/proc/self/exe" : map->l_name, map->l_addr, prefix);
  } catch (...) { // no memory: nothing is known
    functions_.clear();
  }
}

void HiddenSymbols::read(const std::string& path, uintptr_t bias, const std::string& prefix) {
  const Table table = apart([&] {
    std::ifstream file(path, std::ios::binary);
    return file ? readTable(file) : Table();
  });
  for (const Elf64_Sym& symbol : table.symbols) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF ||
        symbol.st_name >= table.names.size())
      continue;
    const char* name = table.names.data() + symbol.st_name;
    if (std::strncmp(name, prefix.c_str(), prefix.size()) == 0)
      functions_.emplace(name, reinterpret_cast<void*>(bias + symbol.st_value));
  }
}

void* HiddenSymbols::find(const std::string& name) const noexcept {
  const auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : found->second;
}

} // namespace mneme::device::cuda
