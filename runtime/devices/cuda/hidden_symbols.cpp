#include "runtime/devices/cuda/hidden_symbols.h"

#include <dlfcn.h>
#include <link.h>

#include "runtime/core/base/elf_file.h"
#include "runtime/core/base/file.h"
#include "runtime/core/base/own_descriptors.h"

namespace mneme::device::cuda {
namespace {

constexpr uint64_t kMostTableBytes = uint64_t{1} << 30;

std::map<std::string, void*> functionsIn(const std::string& path, uintptr_t bias,
                                         const std::string& prefix) {
  std::map<std::string, void*> functions;
  const UniqueFd opened = openRegularFile(path);
  if (const auto file = elf::File::of(opened, kMostTableBytes))
    file->forEachSymbol(SHT_SYMTAB, [&](const Elf64_Sym& symbol, std::string_view name) {
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF &&
          name.starts_with(prefix))
        functions.emplace(name, reinterpret_cast<void*>(bias + symbol.st_value));
    });
  return functions;
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
    const std::string path = isProgram ? "/proc/self/exe" : map->l_name;
    functions_ = apart([&] { return functionsIn(path, map->l_addr, prefix); });
  } catch (...) { // no file or no memory: nothing is known
  }
}

void* HiddenSymbols::find(const std::string& name) const noexcept {
  const auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : found->second;
}

} // namespace mneme::device::cuda
