// Room core/loaded: programs that look functions of CUDA's driver and runtime up by name, as the
// static runtime, libraries that contain it, and Python packages do. What they find is
// this library's function where it has one that stands before the one they would find.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include <dlfcn.h>
#include <link.h>

#include "runtime/core/loaded/dynamic_symbols.h"
#include "runtime/core/loaded/next_symbol.h"
#include "runtime/core/loaded/runtime_in_sight.h"
#include "runtime/core/loaded/vendor_functions.h"
#include "runtime/core/preloaded/preloaded_exported.h"

using namespace mneme::loaded;

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

/// Libraries whose own calls of the driver are none of the program's: the driver, what watches it,
/// and mneme.
constexpr std::array<std::string_view, 10> kApart = {
    "libcuda.so",      "libnvidia-",  "libcupti",          "libnvperf",
    "libcudadebugger", "libcuinj",    "libToolsInjection", "libsanitizer-collection",
    "libmneme_",       "librecord.so"};

/// The shared runtime gets only those functions of the driver that tell about code which mneme's
/// compiler has not seen, about its kernels, and about textures: all else is known as calls of the
/// runtime.
constexpr std::string_view kRuntime = "libcudart.so";
constexpr std::array<std::string_view, 14> kForRuntime = {
    "cuGetProcAddress",    "cuLibrary",        "cuModule",
    "cuKernelGetFunction", "cuLaunchKernel",   "cuLaunchCooperativeKernel",
    "cuTexObject",         "cuSurfObject",     "cuArrayDestroy",
    "cuArrayGetPlane",     "cuMipmappedArray", "cuCtxSetLimit",
    "cuFuncSetCache",      "cuKernelSetCache"};

/// And these, unless this library knows them as calls of the runtime.
constexpr std::string_view kGraphs = "cuGraph";
constexpr const char* kGraphOfRuntime = "cudaGraphInstantiate";

bool beginsWithAny(std::string_view text, std::span<const std::string_view> prefixes) noexcept {
  return std::ranges::any_of(prefixes,
                             [&](std::string_view prefix) { return text.starts_with(prefix); });
}

enum class Caller : uint8_t { Program, Runtime, Apart };

Caller callerIn(const char* path) noexcept {
  const std::string_view whole = path ? path : "";
  const std::string_view file = whole.substr(whole.rfind('/') + 1); // npos + 1 is 0
  return file.starts_with(kRuntime)    ? Caller::Runtime
         : beginsWithAny(file, kApart) ? Caller::Apart
                                       : Caller::Program;
}

/// By the library that an address lies in.
Caller callerAt(const void* address) noexcept {
  struct Search {
    uintptr_t address;
    Caller caller;
  } search{reinterpret_cast<uintptr_t>(address), Caller::Program};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* user) {
        auto& wanted = *static_cast<Search*>(user);
        for (size_t index = 0; index < info->dlpi_phnum; ++index) {
          const ElfW(Phdr) & part = info->dlpi_phdr[index];
          if (part.p_type == PT_LOAD &&
              wanted.address - (info->dlpi_addr + part.p_vaddr) < part.p_memsz)
            return wanted.caller = callerIn(info->dlpi_name), 1;
        }
        return 0;
      },
      &search);
  return search.caller;
}

/// Whether a caller gets our function of this name.
bool getsOurs(std::string_view name, const void* caller) noexcept {
  const Caller who = callerAt(caller);
  return who == Caller::Program ||
         (who == Caller::Runtime && (beginsWithAny(name, kForRuntime) ||
                                     (name.starts_with(kGraphs) && !ownFunction(kGraphOfRuntime))));
}

/// What a caller that gets our functions is given.
void* given(void* ours, std::string_view name, const void* caller) noexcept {
  if (ours && name == "cuLaunchKernel" && callerAt(caller) == Caller::Runtime)
    noteRuntimeInSight();
  return ours;
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

// Apart from the functions that they serve: those that ask for nothing of the vendor's save no
// registers.
[[gnu::noinline]] void* inPlaceOf(Lookup next, void* handle, const char* name,
                                  const void* caller) noexcept {
  return ownFunction(name) && getsOurs(name, caller)
             ? given(oursBefore(next(handle, name), name), name, caller)
             : nullptr;
}
[[gnu::noinline]] void* inPlaceOf(VersionedLookup next, void* handle, const char* name,
                                  const char* version, const void* caller) noexcept {
  return ownFunction(name) && getsOurs(name, caller)
             ? given(oursBefore(next(handle, name, version), name), name, caller)
             : nullptr;
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
  if (!name || !address || !*address)
    return;
  void* const ours = oursBeforeVersion(*address, name, isPerThread);
  if (ours && getsOurs(name, caller))
    *address = given(ours, name, caller);
}

constexpr unsigned long long kPerThreadStreams = 2; // CU_GET_PROC_ADDRESS_...

} // namespace

// Under names of ours: the system's declarations have no exceptions, which a tail call cannot
// promise. The loader goes by the caller, which must remain the caller of these functions.
MNEME_PRELOADED_API void* mneme_loaded_symbol(void* handle, const char* name) __asm__("dlsym");
void* mneme_loaded_symbol(void* handle, const char* name) {
  const Lookup next = behind(nextLookup, "dlsym");
  if (mayBeVendors(handle, name))
    if (void* ours = inPlaceOf(next, handle, name, __builtin_return_address(0)))
      return ours;
  [[clang::musttail]] return next(handle, name);
}

MNEME_PRELOADED_API void* mneme_loaded_versioned_symbol(void* handle, const char* name,
                                                        const char* version) __asm__("dlvsym");
void* mneme_loaded_versioned_symbol(void* handle, const char* name, const char* version) {
  const VersionedLookup next = behind(nextVersionedLookup, "dlvsym");
  if (mayBeVendors(handle, name))
    if (void* ours = inPlaceOf(next, handle, name, version, __builtin_return_address(0)))
      return ours;
  [[clang::musttail]] return next(handle, name, version);
}

MNEME_PRELOADED_API int cuGetProcAddress(const char* name, void** address, int version,
                                         unsigned long long flags) {
  const int status = forward<cuGetProcAddress>("cuGetProcAddress", name, address, version, flags);
  if (status == 0)
    replaceAnswer(name, address, flags & kPerThreadStreams, __builtin_return_address(0));
  return status;
}

MNEME_PRELOADED_API int cuGetProcAddress_v2(const char* name, void** address, int version,
                                            unsigned long long flags, int* result) {
  const int status =
      forward<cuGetProcAddress_v2>("cuGetProcAddress_v2", name, address, version, flags, result);
  if (status == 0)
    replaceAnswer(name, address, flags & kPerThreadStreams, __builtin_return_address(0));
  return status;
}

// How programs ask the runtime for functions of the driver: PyTorch for those that map memory.
MNEME_PRELOADED_API int cudaGetDriverEntryPoint(const char* name, void** address,
                                                unsigned long long flags, int* result) {
  const int status =
      forward<cudaGetDriverEntryPoint>("cudaGetDriverEntryPoint", name, address, flags, result);
  if (status == 0)
    replaceAnswer(name, address, flags & kPerThreadStreams, __builtin_return_address(0));
  return status;
}

MNEME_PRELOADED_API int cudaGetDriverEntryPoint_ptsz(const char* name, void** address,
                                                     unsigned long long flags, int* result) {
  const int status = forward<cudaGetDriverEntryPoint_ptsz>("cudaGetDriverEntryPoint_ptsz", name,
                                                           address, flags, result);
  if (status == 0)
    replaceAnswer(name, address, true, __builtin_return_address(0));
  return status;
}

MNEME_PRELOADED_API int cudaGetDriverEntryPointByVersion(const char* name, void** address,
                                                         unsigned version, unsigned long long flags,
                                                         int* result) {
  const int status = forward<cudaGetDriverEntryPointByVersion>(
      "cudaGetDriverEntryPointByVersion", name, address, version, flags, result);
  if (status == 0)
    replaceAnswer(name, address, flags & kPerThreadStreams, __builtin_return_address(0));
  return status;
}

MNEME_PRELOADED_API int cudaGetDriverEntryPointByVersion_ptsz(const char* name, void** address,
                                                              unsigned version,
                                                              unsigned long long flags,
                                                              int* result) {
  const int status = forward<cudaGetDriverEntryPointByVersion_ptsz>(
      "cudaGetDriverEntryPointByVersion_ptsz", name, address, version, flags, result);
  if (status == 0)
    replaceAnswer(name, address, true, __builtin_return_address(0));
  return status;
}
