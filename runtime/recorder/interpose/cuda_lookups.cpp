// Room recorder: programs that look functions of CUDA's driver and runtime up by name, as the
// static runtime, libraries that contain it, and Python packages do. What they find is the
// recorder's function where it has one that stands before the one they would find.
#include <array>
#include <atomic>
#include <cstring>
#include <string_view>

#include <dlfcn.h>
#include <link.h>

#include "runtime/recorder/backends/vendor_runtime.h"
#include "runtime/recorder/interpose/dynamic_symbols.h"
#include "runtime/recorder/next_symbol.h"
#include "runtime/recorder/recorder_exported.h"

using namespace mneme::record;

namespace {

using Lookup = void* (*)(void* handle, const char* name);
using VersionedLookup = void* (*)(void* handle, const char* name, const char* version);
constinit std::atomic<Lookup> nextLookup{nullptr};
constinit std::atomic<VersionedLookup> nextVersionedLookup{nullptr};

/// Calls of dlsym() find this library's before the system's, those of this library included.
template <typename Function>
[[gnu::noinline]] Function findBehind(std::atomic<Function>& known, const char* name) noexcept {
  const auto next = reinterpret_cast<Function>(functionBehind(name));
  known.store(next, std::memory_order_relaxed);
  return next;
}
template <typename Function>
Function behind(std::atomic<Function>& known, const char* name) noexcept {
  const Function next = known.load(std::memory_order_relaxed);
  return next ? next : findBehind(known, name);
}

/// Where nothing else is asked, for most lookups of most programs. The loader answers those that
/// depend on their caller: it finds this library's functions first, or what comes after the caller.
bool mayBeVendors(const void* handle, const char* name) noexcept {
  return name && name[0] == 'c' && name[1] == 'u' && handle != RTLD_DEFAULT && handle != RTLD_NEXT;
}

/// Libraries whose own calls of the driver are none of the program's: the shared runtime, whose
/// functions are the recorder's themselves; the driver; what watches the driver; and mneme.
constexpr std::array<std::string_view, 11> kApart = {
    "libcudart.so", "libcuda.so",        "libnvidia-",
    "libcupti",     "libnvperf",         "libcudadebugger",
    "libcuinj",     "libToolsInjection", "libsanitizer-collection",
    "libmneme_",    "librecord.so"};

bool isApart(const void* caller) noexcept {
  struct Search {
    uintptr_t address;
    bool isApart;
  } search{reinterpret_cast<uintptr_t>(caller), false};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* user) {
        auto& wanted = *static_cast<Search*>(user);
        for (size_t index = 0; index < info->dlpi_phnum; ++index) {
          const ElfW(Phdr) & part = info->dlpi_phdr[index];
          if (part.p_type != PT_LOAD ||
              wanted.address - (info->dlpi_addr + part.p_vaddr) >= part.p_memsz)
            continue;
          const std::string_view path = info->dlpi_name ? info->dlpi_name : "";
          const std::string_view file = path.substr(path.rfind('/') + 1); // npos + 1 is 0
          for (const std::string_view prefix : kApart)
            wanted.isApart |= file.starts_with(prefix);
          return 1;
        }
        return 0;
      },
      &search);
  return search.isApart;
}

/// What our function of this name passes calls on to. The driver's go on with a capital.
void* vendorsFunction(const char* name) noexcept {
  const bool isDrivers = name[2] >= 'A' && name[2] <= 'Z';
  return isDrivers ? nextSymbol(name, kDriverLibraries) : nextSymbol(name, kLibraries);
}

/// Returns our function that stands before `found`; null if there is none.
void* oursBefore(const void* found, const char* name) noexcept {
  void* const ours = ownFunction(name);
  return ours && found && vendorsFunction(name) == found ? ours : nullptr;
}

/// Whether this caller gets our function of this name, if there is one.
bool getsOurs(const char* name, const void* caller) noexcept {
  return ownFunction(name) && !isApart(caller);
}

// Apart from the functions that they serve: those that ask for nothing of the vendor's save no
// registers.
[[gnu::noinline]] void* inPlaceOf(Lookup next, void* handle, const char* name,
                                  const void* caller) noexcept {
  return getsOurs(name, caller) ? oursBefore(next(handle, name), name) : nullptr;
}
[[gnu::noinline]] void* inPlaceOf(VersionedLookup next, void* handle, const char* name,
                                  const char* version, const void* caller) noexcept {
  return getsOurs(name, caller) ? oursBefore(next(handle, name, version), name) : nullptr;
}

/// The driver answers with one of several versions, for streams of each thread or not: with the
/// function that it exports under one of these names.
void* oursBeforeVersion(const void* found, const char* name, bool isPerThread) noexcept {
  constexpr std::array<const char*, 4> kVersions = {"", "_v2", "_v3", "_v4"};
  constexpr std::array<const char*, 3> kStreams = {"", "_ptsz", "_ptds"};
  std::array<char, 128> full;
  const auto tryWith = [&](const char* version, const char* stream) -> void* {
    const size_t length = std::strlen(name) + std::strlen(version) + std::strlen(stream);
    if (length >= full.size())
      return nullptr;
    stpcpy(stpcpy(stpcpy(full.data(), name), version), stream);
    return oursBefore(found, full.data());
  };
  for (size_t step = 0; step < kStreams.size(); ++step)
    for (const char* version : kVersions)
      if (void* ours = tryWith(version, kStreams[isPerThread ? kStreams.size() - 1 - step : step]))
        return ours;
  return nullptr;
}

void replaceAnswer(const char* name, void** address, bool isPerThread,
                   const void* caller) noexcept {
  if (!name || !address || !*address || isApart(caller))
    return;
  if (void* ours = oursBeforeVersion(*address, name, isPerThread))
    *address = ours;
}

constexpr unsigned long long kPerThreadStreams = 2; // CU_GET_PROC_ADDRESS_...

} // namespace

// Under names of ours: the system's declarations have no exceptions, which a tail call cannot
// promise. The loader goes by the caller, which must remain the caller of these functions.
MNEME_RECORD_API void* mneme_record_symbol(void* handle, const char* name) __asm__("dlsym");
void* mneme_record_symbol(void* handle, const char* name) {
  const Lookup next = behind(nextLookup, "dlsym");
  if (mayBeVendors(handle, name))
    if (void* ours = inPlaceOf(next, handle, name, __builtin_return_address(0)))
      return ours;
  [[clang::musttail]] return next(handle, name);
}

MNEME_RECORD_API void* mneme_record_versioned_symbol(void* handle, const char* name,
                                                     const char* version) __asm__("dlvsym");
void* mneme_record_versioned_symbol(void* handle, const char* name, const char* version) {
  const VersionedLookup next = behind(nextVersionedLookup, "dlvsym");
  if (mayBeVendors(handle, name))
    if (void* ours = inPlaceOf(next, handle, name, version, __builtin_return_address(0)))
      return ours;
  [[clang::musttail]] return next(handle, name, version);
}

MNEME_RECORD_API int cuGetProcAddress(const char* name, void** address, int version,
                                      unsigned long long flags) {
  const int status = forward<cuGetProcAddress>("cuGetProcAddress", name, address, version, flags);
  if (status == 0)
    replaceAnswer(name, address, flags & kPerThreadStreams, __builtin_return_address(0));
  return status;
}

MNEME_RECORD_API int cuGetProcAddress_v2(const char* name, void** address, int version,
                                         unsigned long long flags, int* result) {
  const int status =
      forward<cuGetProcAddress_v2>("cuGetProcAddress_v2", name, address, version, flags, result);
  if (status == 0)
    replaceAnswer(name, address, flags & kPerThreadStreams, __builtin_return_address(0));
  return status;
}
