#include "runtime/recorder/process_facts.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>

#include "runtime/core/abi/mneme_rt.h"
#include "runtime/core/base/elf_file.h"
#include "runtime/core/base/own_descriptors.h"
#include "runtime/core/embed/containers.h"
#include "runtime/recorder/summary.h"

namespace mneme::record {
namespace {

std::atomic<bool> isAnyOpenedApart{false};

/// What the executable's file says about itself.
struct ExecutableFacts {
  bool holdsDeviceCode = false;
  bool importsRuntime = false; ///< from a shared vendor runtime
};

ExecutableFacts readExecutable() {
  constexpr uint64_t kMostBytes = 16 << 20; // of names
  ExecutableFacts facts;
  const UniqueFd opened(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  const auto file = elf::File::of(opened, kMostBytes);
  if (!file)
    return facts;
  for (const elf::Section& section : file->sections())
    facts.holdsDeviceCode |= embed::isDeviceCodeSection(section.name);
  if (const elf::Section* imports = file->find(".dynstr")) {
    const Bytes names = file->content(*imports).value_or(Bytes());
    facts.importsRuntime =
        embed::namesRegistration({reinterpret_cast<const char*>(names.data()), names.size()});
  }
  return facts;
}

bool beginsWithAny(const std::string& file, std::span<const char* const> prefixes) noexcept {
  return std::ranges::any_of(prefixes,
                             [&](const char* prefix) { return file.starts_with(prefix); });
}

void countModule(void* user, const mneme_module_entry*) { ++*static_cast<size_t*>(user); }

/// Whether the CPU device's runtime stands before this function of one inside of the program; null:
/// before any.
bool isReplaced(const void* vendorEntry) noexcept {
  using Ask = int (*)(const void*);
  static const auto ask = reinterpret_cast<Ask>(dlsym(RTLD_DEFAULT, "mneme_cudart_has_replaced"));
  return ask && ask(vendorEntry) != 0;
}

/// Whether a function of a runtime is in a file without any of these prefixes, and works there.
bool isLinkedStatically(const void* vendorEntry, std::span<const char* const> runtimes) noexcept {
  Dl_info info{};
  const ElfW(Sym)* symbol = nullptr;
  if (!vendorEntry ||
      !dladdr1(vendorEntry, &info, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&symbol)),
               RTLD_DL_SYMENT) ||
      !info.dli_fname)
    return false;
  // Position-dependent programs name a function of a shared library by a stub of their own.
  if ((symbol && symbol->st_shndx == SHN_UNDEF) || isReplaced(vendorEntry))
    return false;
  try {
    const std::string file = std::filesystem::path(info.dli_fname).filename().string();
    return !beginsWithAny(file, runtimes);
  } catch (const std::exception&) {
    return false;
  }
}

} // namespace

bool isRuntimeLinkedStatically(const void* vendorEntry, const Backend& backend) noexcept {
  return isLinkedStatically(vendorEntry, backend.runtimeFiles());
}

bool isLaunchedByDriver(const void* vendorEntry) noexcept {
  static std::atomic<const void*> shared{nullptr}, inProgram{nullptr}; // of few, the latest
  if (vendorEntry == shared.load(std::memory_order_relaxed))
    return false;
  if (vendorEntry == inProgram.load(std::memory_order_relaxed))
    return true;
  constexpr std::array kOthers = {"libcudart.so", "libamdhip64.so", "libmneme_", "librecord.so"};
  const bool isDriven = isLinkedStatically(vendorEntry, kOthers);
  (isDriven ? inProgram : shared).store(vendorEntry, std::memory_order_relaxed);
  return isDriven;
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
  if (facts.holdsDeviceCode && !facts.importsRuntime && !hasSeenAllocations && !isReplaced(nullptr))
    return nothingOfStaticRuntime();
  if (hasSeenModules || hasModules())
    return "the program launched no kernel; nothing was recorded";
  return facts.holdsDeviceCode ? kNotInstrumented : kNoKernels;
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
