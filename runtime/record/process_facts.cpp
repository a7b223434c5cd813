#include "runtime/record/process_facts.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

namespace mneme::record {
namespace {

template <typename Value> bool readFrom(std::ifstream& file, uint64_t offset, Value& value) {
  file.seekg(static_cast<std::streamoff>(offset));
  return static_cast<bool>(file.read(reinterpret_cast<char*>(&value), sizeof(value)));
}

std::string sectionNames(std::ifstream& file) {
  constexpr uint64_t maxNamesBytes = 1 << 20;
  ElfW(Ehdr) header{};
  ElfW(Shdr) names{};
  if (!readFrom(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      !readFrom(file, header.e_shoff + uint64_t{header.e_shstrndx} * sizeof(names), names) ||
      names.sh_size > maxNamesBytes)
    return "";
  std::string text(names.sh_size, '\0');
  file.seekg(static_cast<std::streamoff>(names.sh_offset));
  return file.read(text.data(), static_cast<std::streamsize>(text.size())) ? text : "";
}

} // namespace

bool isRuntimeLinkedStatically(const void* vendorEntry, const Vendor* vendor) noexcept {
  Dl_info info{};
  const ElfW(Sym)* symbol = nullptr;
  if (!vendorEntry ||
      !dladdr1(vendorEntry, &info, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&symbol)),
               RTLD_DL_SYMENT) ||
      !info.dli_fname)
    return false;
  // Position-dependent programs name a function of a shared library by a stub of their own.
  if (symbol && symbol->st_shndx == SHN_UNDEF)
    return false;
  if (!vendor)
    return true;
  try {
    const std::string file = std::filesystem::path(info.dli_fname).filename().string();
    return std::none_of(vendor->runtimePrefixes.begin(), vendor->runtimePrefixes.end(),
                        [&](const std::string& prefix) { return file.starts_with(prefix); });
  } catch (const std::exception&) {
    return false;
  }
}

bool executableHoldsDeviceCode() noexcept {
  try {
    std::ifstream file("/proc/self/exe", std::ios::binary);
    const std::string names = sectionNames(file);
    return names.find(".nv_fatbin") != std::string::npos ||
           names.find(".hip_fatbin") != std::string::npos;
  } catch (const std::exception&) {
    return false;
  }
}

} // namespace mneme::record
