// Room emulator/runtimes: an executable or library of this process, as the dynamic loader has it in
// memory. Nothing here calls the loader: it is asked while the loader's lists are locked.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <link.h>

#include "runtime/core/loaded/dynamic_symbols.h"

namespace mneme::cpu_runtime::cuda {

/// Addresses from the first to the last part.
struct Extent {
  uintptr_t first = UINTPTR_MAX, end = 0;
};

/// A copy of what dl_iterate_phdr() passes: valid as long as that runs.
class LoadedObject {
public:
  explicit LoadedObject(const dl_phdr_info& info) noexcept;

  uintptr_t base() const noexcept { return info_.dlpi_addr; }
  /// Empty for the program.
  std::string_view path() const noexcept { return info_.dlpi_name ? info_.dlpi_name : ""; }
  bool contains(const void* address) const noexcept;
  Extent extent() const noexcept;
  /// Whether these bytes are in one part of it that is executed.
  bool isCode(uintptr_t address, size_t bytes) const noexcept;
  /// Returns the protection of such a part, as mprotect() takes it.
  int protectionOf(uintptr_t address) const noexcept;
  /// Whether its program headers are these.
  bool hasSegments(std::span<const ElfW(Phdr)> segments) const noexcept;
  /// Whether it is linked to the library of this name.
  bool needs(std::string_view library) const noexcept;
  /// Whether it calls a function of this name that it does not define, or has its address.
  bool refersTo(std::string_view function) const noexcept;
  /// Returns what it defines for others.
  loaded::DynamicSymbols exports() const noexcept;

private:
  /// A table of relocations.
  struct Table {
    const ElfW(Rela) * first = nullptr;
    size_t bytes = 0;
  };
  const ElfW(Phdr) * codeAt(uintptr_t address, size_t bytes) const noexcept;
  uintptr_t addressOf(ElfW(Addr) value) const noexcept;
  bool names(const Table& table, std::string_view symbol) const noexcept;

  dl_phdr_info info_;
  const ElfW(Dyn) * dynamic_ = nullptr;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* strings_ = nullptr;
  Table calls_, otherRelocations_;
};

} // namespace mneme::cpu_runtime::cuda
