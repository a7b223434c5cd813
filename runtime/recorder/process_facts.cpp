#include "runtime/recorder/process_facts.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "runtime/core/abi/mneme_rt.h"
#include "runtime/core/base/own_descriptors.h"
#include "runtime/core/embed/containers.h"
#include "runtime/recorder/summary.h"

namespace mneme::record {
namespace {

std::atomic<bool> isAnyOpenedApart{false};

template <typename Value> bool readFrom(std::ifstream& file, uint64_t offset, Value& value) {
  file.seekg(static_cast<std::streamoff>(offset));
  return static_cast<bool>(file.read(reinterpret_cast<char*>(&value), sizeof(value)));
}

/// What the executable's file says about itself.
struct ExecutableFacts {
  bool holdsDeviceCode = false;
  bool importsRuntime = false; ///< from a shared vendor runtime
};

std::string readSection(std::ifstream& file, const ElfW(Shdr) & section) {
  constexpr uint64_t maxBytes = 16 << 20;
  if (section.sh_size > maxBytes)
    return "";
  std::string text(section.sh_size, '\0');
  file.seekg(static_cast<std::streamoff>(section.sh_offset));
  return file.read(text.data(), static_cast<std::streamsize>(text.size())) ? text : "";
}

ExecutableFacts readExecutable() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  ExecutableFacts facts;
  ElfW(Ehdr) header{};
  ElfW(Shdr) names{};
  if (!readFrom(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      !readFrom(file, header.e_shoff + uint64_t{header.e_shstrndx} * sizeof(names), names))
    return facts;
  const std::string allNames = readSection(file, names);
  for (unsigned index = 0; index < header.e_shnum; ++index) {
    ElfW(Shdr) section{};
    if (!readFrom(file, header.e_shoff + uint64_t{index} * sizeof(section), section) ||
        section.sh_name >= allNames.size())
      continue;
    const std::string name = allNames.c_str() + section.sh_name;
    facts.holdsDeviceCode |= embed::isDeviceCodeSection(name);
    if (name == ".dynstr") {
      const std::string symbols = readSection(file, section);
      facts.importsRuntime = embed::namesRegistration(symbols);
    }
  }
  return facts;
}

bool beginsWithAny(const std::string& file, std::span<const char* const> prefixes) noexcept {
  return std::ranges::any_of(prefixes,
                             [&](const char* prefix) { return file.starts_with(prefix); });
}

void countModule(void* user, const mneme_module_entry*) { ++*static_cast<size_t*>(user); }

} // namespace

bool isRuntimeLinkedStatically(const void* vendorEntry, const Backend& backend) noexcept {
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
  try {
    const std::string file = std::filesystem::path(info.dli_fname).filename().string();
    return !beginsWithAny(file, backend.runtimeFiles());
  } catch (const std::exception&) {
    return false;
  }
}

void noteOpenedApart() noexcept { isAnyOpenedApart = true; }
bool wasAnyOpenedApart() noexcept { return isAnyOpenedApart; }

bool hasModules() noexcept {
  size_t modules = 0;
  mneme_rt_visit_modules(countModule, &modules);
  return modules > 0;
}

std::string whyNothingWasSeen(bool hasSeenAllocations, bool hasSeenModules) {
  const ExecutableFacts facts = apart(readExecutable);
  if (!facts.holdsDeviceCode && !hasSeenAllocations)
    return "";
  if (facts.holdsDeviceCode && !facts.importsRuntime && !hasSeenAllocations)
    return staticRuntime();
  return hasSeenModules || hasModules() ? "the program launched no kernel; nothing was recorded"
                                        : kNotInstrumented;
}

std::vector<std::string> loadedLibraries(std::span<const char* const> prefixes) {
  struct Search {
    std::span<const char* const> prefixes;
    std::vector<std::string> found;
  } search{prefixes, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* user) {
        auto& wanted = *static_cast<Search*>(user);
        const std::string path = info->dlpi_name ? info->dlpi_name : "";
        const std::string file = path.substr(path.rfind('/') + 1);
        if (beginsWithAny(file, wanted.prefixes))
          wanted.found.push_back(file);
        return 0;
      },
      &search);
  return search.found;
}

} // namespace mneme::record
