#include "runtime/emulator/runtimes/cuda/loaded_object.h"

#include <algorithm>
#include <cstring>

#include <sys/mman.h>

#include "runtime/core/base/bytes.h"

namespace mneme::cpu_runtime::cuda {

LoadedObject::LoadedObject(const dl_phdr_info& info) noexcept : info_(info) {
  for (size_t index = 0; index < info.dlpi_phnum; ++index)
    if (info.dlpi_phdr[index].p_type == PT_DYNAMIC)
      dynamic_ = reinterpret_cast<const ElfW(Dyn)*>(base() + info.dlpi_phdr[index].p_vaddr);
  for (const ElfW(Dyn)* entry = dynamic_; entry && entry->d_tag != DT_NULL; ++entry) {
    const uintptr_t address = addressOf(entry->d_un.d_ptr);
    switch (entry->d_tag) {
    case DT_SYMTAB:
      symbols_ = reinterpret_cast<const ElfW(Sym)*>(address);
      break;
    case DT_STRTAB:
      strings_ = reinterpret_cast<const char*>(address);
      break;
    case DT_JMPREL:
      calls_.first = reinterpret_cast<const ElfW(Rela)*>(address);
      break;
    case DT_PLTRELSZ:
      calls_.bytes = entry->d_un.d_val;
      break;
    case DT_RELA:
      otherRelocations_.first = reinterpret_cast<const ElfW(Rela)*>(address);
      break;
    case DT_RELASZ:
      otherRelocations_.bytes = entry->d_un.d_val;
      break;
    default:
      break;
    }
  }
}

/// The loader has made addresses of these, but for objects of the system's own.
uintptr_t LoadedObject::addressOf(ElfW(Addr) value) const noexcept {
  return value < base() ? base() + value : value;
}

bool LoadedObject::contains(const void* address) const noexcept {
  const uintptr_t offset = reinterpret_cast<uintptr_t>(address) - base();
  for (size_t index = 0; index < info_.dlpi_phnum; ++index) {
    const ElfW(Phdr) & part = info_.dlpi_phdr[index];
    if (part.p_type == PT_LOAD && offset - part.p_vaddr < part.p_memsz)
      return true;
  }
  return false;
}

Extent LoadedObject::extent() const noexcept {
  Extent extent;
  for (size_t index = 0; index < info_.dlpi_phnum; ++index) {
    const ElfW(Phdr) & part = info_.dlpi_phdr[index];
    if (part.p_type == PT_LOAD)
      extent = {std::min(extent.first, base() + part.p_vaddr),
                std::max(extent.end, base() + part.p_vaddr + part.p_memsz)};
  }
  return extent;
}

const ElfW(Phdr) * LoadedObject::codeAt(uintptr_t address, size_t bytes) const noexcept {
  const uintptr_t offset = address - base();
  for (size_t index = 0; index < info_.dlpi_phnum; ++index) {
    const ElfW(Phdr) & part = info_.dlpi_phdr[index];
    if (part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0 && offset >= part.p_vaddr &&
        isInside(part.p_filesz, offset - part.p_vaddr, bytes))
      return &part;
  }
  return nullptr;
}

bool LoadedObject::isCode(uintptr_t address, size_t bytes) const noexcept {
  return codeAt(address, bytes) != nullptr;
}

int LoadedObject::protectionOf(uintptr_t address) const noexcept {
  const ElfW(Phdr)* const part = codeAt(address, 1);
  const auto flag = [&](unsigned wanted, int value) {
    return part && (part->p_flags & wanted) != 0 ? value : 0;
  };
  return PROT_EXEC | flag(PF_R, PROT_READ) | flag(PF_W, PROT_WRITE);
}

bool LoadedObject::hasSegments(std::span<const ElfW(Phdr)> segments) const noexcept {
  return segments.size() == info_.dlpi_phnum &&
         std::memcmp(segments.data(), info_.dlpi_phdr, segments.size_bytes()) == 0;
}

bool LoadedObject::needs(std::string_view library) const noexcept {
  for (const ElfW(Dyn)* entry = dynamic_; strings_ && entry && entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_NEEDED && strings_ + entry->d_un.d_val == library)
      return true;
  return false;
}

bool LoadedObject::names(const Table& table, std::string_view symbol) const noexcept {
  if (!table.first || !symbols_ || !strings_)
    return false;
  for (size_t index = 0; index < table.bytes / sizeof *table.first; ++index) {
    const auto number = ELF64_R_SYM(table.first[index].r_info);
    if (number != 0 && symbols_[number].st_shndx == SHN_UNDEF &&
        strings_ + symbols_[number].st_name == symbol)
      return true;
  }
  return false;
}

bool LoadedObject::refersTo(std::string_view function) const noexcept {
  return names(calls_, function) || names(otherRelocations_, function);
}

loaded::DynamicSymbols LoadedObject::exports() const noexcept {
  return loaded::symbolsOf(base(), dynamic_);
}

} // namespace mneme::cpu_runtime::cuda
