#include "runtime/core/loaded/dynamic_symbols.h"

#include <cstdint>
#include <cstring>

#include <dlfcn.h>

namespace mneme::loaded {
namespace {

/// On most processors the loader has already turned these offsets into addresses.
uintptr_t addressIn(ElfW(Addr) base, ElfW(Addr) value) noexcept {
  return value < base ? base + value : value;
}

/// DT_GNU_HASH: {number of buckets, first symbol, words of the filter, shift}, the filter, the
/// buckets, and the hash of every symbol; its lowest bit marks the last symbol of a bucket.
struct HashTable {
  explicit HashTable(const uint32_t* table) noexcept
      : bucketCount(table[0]), offset(table[1]),
        buckets(table + 4 + table[2] * (sizeof(ElfW(Addr)) / 4)), hashes(buckets + bucketCount) {}

  uint32_t bucketCount, offset;
  const uint32_t* buckets;
  const uint32_t* hashes;
};

size_t countSymbols(const HashTable& table) noexcept {
  uint32_t last = 0;
  for (uint32_t index = 0; index < table.bucketCount; ++index)
    last = table.buckets[index] > last ? table.buckets[index] : last;
  if (last < table.offset)
    return 0;
  while (!(table.hashes[last - table.offset] & 1))
    ++last;
  return last + 1;
}

uint32_t hashOf(const char* name) noexcept {
  uint32_t hash = 5381;
  for (; *name; ++name)
    hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

} // namespace

const ElfW(Sym) * DynamicSymbols::find(const char* name) const noexcept {
  if (!first || !names || !hashes || hashes[0] == 0)
    return nullptr;
  const HashTable table(hashes);
  const uint32_t hash = hashOf(name);
  uint32_t index = table.buckets[hash % table.bucketCount];
  for (; index >= table.offset; ++index) {
    const uint32_t found = table.hashes[index - table.offset];
    const ElfW(Sym) & symbol = first[index];
    if ((found | 1) == (hash | 1) && std::strcmp(names + symbol.st_name, name) == 0)
      return symbol.st_shndx != SHN_UNDEF && symbol.st_value != 0 ? &symbol : nullptr;
    if (found & 1)
      break;
  }
  return nullptr;
}

DynamicSymbols symbolsOf(const link_map& library) noexcept {
  return symbolsOf(library.l_addr, library.l_ld);
}

DynamicSymbols symbolsOf(ElfW(Addr) base, const ElfW(Dyn) * dynamic) noexcept {
  DynamicSymbols found;
  for (const ElfW(Dyn)* entry = dynamic; entry && entry->d_tag != DT_NULL; ++entry) {
    const uintptr_t address = addressIn(base, entry->d_un.d_ptr);
    if (entry->d_tag == DT_SYMTAB)
      found.first = reinterpret_cast<ElfW(Sym)*>(address);
    else if (entry->d_tag == DT_STRTAB)
      found.names = reinterpret_cast<const char*>(address);
    else if (entry->d_tag == DT_GNU_HASH)
      found.hashes = reinterpret_cast<const uint32_t*>(address);
  }
  if (found.hashes)
    found.count = countSymbols(HashTable(found.hashes));
  return found;
}

const link_map* ownLibrary() noexcept {
  static const char here = 0;
  Dl_info info{};
  link_map* library = nullptr;
  return dladdr1(&here, &info, reinterpret_cast<void**>(&library), RTLD_DL_LINKMAP) ? library
                                                                                    : nullptr;
}

void* ownFunction(const char* name) noexcept {
  static const link_map* const library = ownLibrary();
  static const DynamicSymbols symbols = library ? symbolsOf(*library) : DynamicSymbols();
  const ElfW(Sym)* const symbol = symbols.find(name);
  return symbol ? reinterpret_cast<void*>(library->l_addr + symbol->st_value) : nullptr;
}

void* functionBehind(const char* name) noexcept {
  const link_map* library = ownLibrary();
  while (library && (library = library->l_next))
    if (const ElfW(Sym)* const symbol = symbolsOf(*library).find(name))
      return reinterpret_cast<void*>(library->l_addr + symbol->st_value);
  return nullptr;
}

} // namespace mneme::loaded
