// Room core/loaded: functions that the vendor's runtime of the process has not are not here either,
// for programs that look whether they are there.
#include <sys/mman.h>
#include <unistd.h>

#include <dlfcn.h>

#include <cstdint>
#include <string_view>

#include "runtime/core/loaded/dynamic_symbols.h"

using mneme::loaded::DynamicSymbols;

namespace {

/// The loader passes a symbol without a value over.
bool makeWritable(const DynamicSymbols& symbols, int protection) {
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
  const link_map* const library = mneme::loaded::ownLibrary();
  const DynamicSymbols symbols = library ? mneme::loaded::symbolsOf(*library) : DynamicSymbols();
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
