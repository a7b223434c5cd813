#include "runtime/recorder/loaded_symbols.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <elf.h>

namespace mneme::record {
namespace {

/// The dynamic tables of an object in memory.
struct Tables {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  size_t stringBytes = 0;
  size_t count = 0; ///< of symbols
};

/// The number of symbols, by a GNU hash table. Linkers enter undefined symbols, too, if they are
/// weak and the code takes their address.
size_t symbolsOf(const uint32_t* table) noexcept {
  const uint32_t bucketCount = table[0], first = table[1], bloomWords = table[2];
  const uint32_t* const buckets = table + 4 + bloomWords * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
  const uint32_t* const chains = buckets + bucketCount;
  uint32_t last = 0;
  for (uint32_t index = 0; index < bucketCount; ++index)
    last = std::max(last, buckets[index]);
  if (last < first)
    return first;
  while ((chains[last - first] & 1) == 0)
    ++last;
  return last + 1;
}

Tables tablesOf(const dl_phdr_info& info) noexcept {
  Tables tables;
  // The loader has made addresses of these, but for objects of the system's own.
  const auto at = [&](ElfW(Addr) value) {
    return value < info.dlpi_addr ? info.dlpi_addr + value : value;
  };
  for (unsigned index = 0; index < info.dlpi_phnum; ++index) {
    if (info.dlpi_phdr[index].p_type != PT_DYNAMIC)
      continue;
    const auto* entry =
        reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + info.dlpi_phdr[index].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_SYMTAB)
        tables.symbols = reinterpret_cast<const ElfW(Sym)*>(at(entry->d_un.d_ptr));
      else if (entry->d_tag == DT_STRTAB)
        tables.strings = reinterpret_cast<const char*>(at(entry->d_un.d_ptr));
      else if (entry->d_tag == DT_STRSZ)
        tables.stringBytes = entry->d_un.d_val;
      else if (entry->d_tag == DT_HASH) // the number of all symbols
        tables.count = reinterpret_cast<const uint32_t*>(at(entry->d_un.d_ptr))[1];
      else if (entry->d_tag == DT_GNU_HASH && tables.count == 0)
        tables.count = symbolsOf(reinterpret_cast<const uint32_t*>(at(entry->d_un.d_ptr)));
    }
  }
  return tables;
}

} // namespace

bool importsAny(const dl_phdr_info& info,
                const std::function<bool(std::string_view name)>& isAsked) noexcept {
  const Tables tables = tablesOf(info);
  if (!tables.symbols || !tables.strings)
    return false;
  for (size_t index = 0; index < tables.count; ++index) {
    const ElfW(Sym) & symbol = tables.symbols[index];
    if (symbol.st_shndx == SHN_UNDEF && symbol.st_name < tables.stringBytes &&
        isAsked(tables.strings + symbol.st_name))
      return true;
  }
  return false;
}

} // namespace mneme::record
