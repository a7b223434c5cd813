// Room recorder: functions that the vendor's runtime of the process has not are not here either,
// for programs that look whether they are there.
#include <sys/mman.h>
#include <unistd.h>

#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <string_view>

namespace {

/// The dynamic symbols of this library.
struct Symbols {
  ElfW(Sym) * first = nullptr;
  const char* names = nullptr;
  size_t count = 0;
};

/// The loader makes addresses of them on most processors.
uintptr_t addressIn(const link_map& library, ElfW(Addr) value) {
  return value < library.l_addr ? library.l_addr + value : value;
}

/// {buckets, first symbol, words of the filter, shift}, the filter, the buckets, and for every
/// symbol its hash, whose lowest bit ends a bucket.
size_t countSymbols(const uint32_t* table) {
  const uint32_t bucketCount = table[0], offset = table[1], filterWords = table[2];
  const uint32_t* const buckets = table + 4 + filterWords * (sizeof(ElfW(Addr)) / 4);
  const uint32_t* const hashes = buckets + bucketCount;
  uint32_t last = 0;
  for (uint32_t index = 0; index < bucketCount; ++index)
    last = buckets[index] > last ? buckets[index] : last;
  if (last < offset)
    return 0;
  while (!(hashes[last - offset] & 1))
    ++last;
  return last + 1;
}

Symbols ownSymbols() {
  static const char here = 0;
  Dl_info info{};
  link_map* library = nullptr;
  Symbols found;
  if (!dladdr1(&here, &info, reinterpret_cast<void**>(&library), RTLD_DL_LINKMAP) || !library)
    return found;
  for (const ElfW(Dyn)* entry = library->l_ld; entry->d_tag != DT_NULL; ++entry) {
    const uintptr_t address = addressIn(*library, entry->d_un.d_ptr);
    if (entry->d_tag == DT_SYMTAB)
      found.first = reinterpret_cast<ElfW(Sym)*>(address);
    else if (entry->d_tag == DT_STRTAB)
      found.names = reinterpret_cast<const char*>(address);
    else if (entry->d_tag == DT_GNU_HASH)
      found.count = countSymbols(reinterpret_cast<const uint32_t*>(address));
  }
  return found;
}

/// The loader passes a symbol without a value over.
bool makeWritable(const Symbols& symbols, int protection) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = reinterpret_cast<uintptr_t>(symbols.first) & ~(page - 1);
  const auto end = reinterpret_cast<uintptr_t>(symbols.first + symbols.count);
  return mprotect(reinterpret_cast<void*>(begin), end - begin, protection) == 0;
}

/// In what the program was linked with, or has preloaded.
bool isThere(const char* name) { return dlsym(RTLD_NEXT, name) != nullptr; }

/// A runtime that comes later may have what is missing now: nothing is hidden without one.
[[gnu::constructor]] void hideWhatIsMissing() {
  const bool hasHip = isThere("hipGetDevice"), hasCuda = isThere("cudaGetDevice");
  const bool hasDriver = isThere("cuInit");
  const Symbols symbols = ownSymbols();
  if ((!hasHip && !hasCuda && !hasDriver) || !symbols.first || !symbols.names ||
      !makeWritable(symbols, PROT_READ | PROT_WRITE))
    return;
  for (size_t index = 1; index < symbols.count; ++index) {
    ElfW(Sym) & symbol = symbols.first[index];
    const std::string_view name = symbols.names + symbol.st_name;
    const bool isVendors =
        name.starts_with("roctx") ||
        (hasHip && (name.starts_with("hip") || name.starts_with("_Z24hip"))) ||
        (name.starts_with("cuda") ? hasCuda : hasDriver && name.starts_with("cu"));
    if (isVendors && symbol.st_shndx != SHN_UNDEF && !isThere(name.data()))
      symbol.st_value = 0;
  }
  makeWritable(symbols, PROT_READ);
}

} // namespace
