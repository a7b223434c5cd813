// Finds the fat binaries of a unit. With relocatable device code the wrapper
// {magic, version, data, unused} is made at link time; it lies in initialised, writable data of the
// same ELF object. The loaded image is searched rather than the file, so that stripped, renamed and
// deleted executables work.
#include <link.h>

#include "runtime/core/abi/mneme_rt.h"

namespace {

struct FatbinWrapper {
  uint32_t magic;
  uint32_t version;
  const void* data;
  const void* unused;
};

constexpr uint32_t kCudaWrapperMagic = 0x466243b1;
constexpr uint32_t kHipWrapperMagic = 0x48495046;
constexpr uint32_t kCudaFatbinMagic = 0xBA55ED50;
constexpr uint32_t kHipVendor = 1;

struct Search {
  const mneme_module_entry* module;
  const void** fatbins;
  size_t capacity;
  size_t count;
};

bool holds(const dl_phdr_info& object, uintptr_t address, size_t bytes) {
  for (int index = 0; index < object.dlpi_phnum; ++index) {
    const ElfW(Phdr) & segment = object.dlpi_phdr[index];
    uintptr_t start = object.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && address >= start && bytes <= segment.p_memsz &&
        address - start <= segment.p_memsz - bytes)
      return true;
  }
  return false;
}

void add(Search& search, const void* fatbin) {
  for (size_t index = 0; index < search.count && index < search.capacity; ++index)
    if (search.fatbins[index] == fatbin)
      return;
  if (search.count < search.capacity)
    search.fatbins[search.count] = fatbin;
  ++search.count;
}

void inspect(const dl_phdr_info& object, const FatbinWrapper& wrapper, Search& search) {
  bool isHip = search.module->vendor == kHipVendor;
  if (wrapper.magic != (isHip ? kHipWrapperMagic : kCudaWrapperMagic) || wrapper.version == 0 ||
      wrapper.version > 2)
    return;
  auto address = reinterpret_cast<uintptr_t>(wrapper.data);
  if (!holds(object, address, sizeof(uint64_t) * 2))
    return;
  if (isHip || *static_cast<const uint32_t*>(wrapper.data) == kCudaFatbinMagic)
    add(search, wrapper.data);
}

void searchSegment(const dl_phdr_info& object, const ElfW(Phdr) & segment, Search& search) {
  uintptr_t begin = object.dlpi_addr + segment.p_vaddr;
  uintptr_t end = begin + segment.p_filesz;
  for (uintptr_t address = (begin + 7) & ~uintptr_t{7}; address + sizeof(FatbinWrapper) <= end;
       address += 8)
    inspect(object, *reinterpret_cast<const FatbinWrapper*>(address), search);
}

int visitObject(dl_phdr_info* object, size_t, void* user) {
  auto& search = *static_cast<Search*>(user);
  if (!holds(*object, reinterpret_cast<uintptr_t>(search.module), sizeof(mneme_module_entry)))
    return 0;
  for (int index = 0; index < object->dlpi_phnum; ++index)
    if (const ElfW(Phdr) & segment = object->dlpi_phdr[index];
        segment.p_type == PT_LOAD && (segment.p_flags & PF_W) && (segment.p_flags & PF_R))
      searchSegment(*object, segment, search);
  return 1;
}

} // namespace

size_t mneme_rt_fatbins(const mneme_module_entry* module, const void** fatbins, size_t capacity) {
  if (!module)
    return 0;
  Search search{module, fatbins, capacity, 0};
  if (module->fatbinWrapper)
    add(search, static_cast<const FatbinWrapper*>(module->fatbinWrapper)->data);
  else
    dl_iterate_phdr(visitObject, &search);
  return search.count;
}
