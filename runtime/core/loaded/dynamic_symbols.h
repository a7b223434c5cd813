// Room core/loaded: functions that loaded libraries export, read without the loader's help: some
// are wanted before dlsym() can be called, since one of ours may stand before it.
#pragma once

#include <cstddef>

#include <link.h>

namespace mneme::loaded {

/// The dynamic symbols of a library of this process.
struct DynamicSymbols {
  ElfW(Sym) * first = nullptr;
  const char* names = nullptr;
  const uint32_t* hashes = nullptr; ///< GNU's table
  size_t count = 0;

  /// Returns null if the library does not define `name`, or what it defines has no value.
  const ElfW(Sym) * find(const char* name) const noexcept;
};

/// Libraries without GNU's table of hashes have no symbols here.
DynamicSymbols symbolsOf(const link_map& library) noexcept;
/// The same for one with this base and dynamic section, which may be null.
DynamicSymbols symbolsOf(ElfW(Addr) base, const ElfW(Dyn) * dynamic) noexcept;

/// This library; null if the loader does not know it.
const link_map* ownLibrary() noexcept;

/// Returns this library's function of this name, or null.
void* ownFunction(const char* name) noexcept;

/// Returns the first definition of `name` in the libraries after this one, which calls nothing that
/// might be interposed; null if there is none.
void* functionBehind(const char* name) noexcept;

} // namespace mneme::loaded
