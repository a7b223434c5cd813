// When runtimes inside of libraries that are loaded later are replaced, and who asks about it.
#include <atomic>

#include <dlfcn.h>

#include "runtime/core/abi/cpu_driver_services.h"
#include "runtime/core/abi/mneme_rt.h"
#include "runtime/core/loaded/dynamic_symbols.h"
#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/cuda/static_runtime.h"

using namespace mneme::cpu_runtime::cuda;

namespace {

using Lookup = void* (*)(void*, const char*);
constinit std::atomic<Lookup> nextLookup{nullptr};

} // namespace

MNEME_RUNTIME_API int mneme_cudart_is_reported_unreplaced(const void* caller) {
  return isReportedUnreplaced(caller) ? 1 : 0;
}

MNEME_RUNTIME_API int mneme_cudart_has_replaced(const void* function) {
  return isReplaced(function) ? 1 : 0;
}

/// Instrumented units call this before their code is registered, also those of libraries that are
/// loaded later.
MNEME_RUNTIME_API void mneme_rt_register_module(const mneme_module_entry* unit) {
  replaceStaticRuntimes(unit);
  constexpr const char* name = "mneme_rt_register_module";
  void* next = dlsym(RTLD_NEXT, name);
  if (!next) // it is a library of a library that is not for all
    if (void* const library = dlopen(kInstrumentedLibrary, RTLD_LAZY | RTLD_NOLOAD)) {
      next = dlsym(library, name);
      dlclose(library);
    }
  if (next)
    reinterpret_cast<void (*)(const mneme_module_entry*)>(next)(unit);
}

/// A library without kernels registers nothing: who has opened it asks for a function. Under a name
/// of ours, as the loader's other functions: the caller must remain the caller.
MNEME_RUNTIME_API void* mneme_cudart_symbol(void* handle, const char* name) __asm__("dlsym");
void* mneme_cudart_symbol(void* handle, const char* name) {
  Lookup next = nextLookup.load(std::memory_order_relaxed);
  if (!next) {
    next = reinterpret_cast<Lookup>(mneme::loaded::functionBehind("dlsym"));
    nextLookup.store(next, std::memory_order_relaxed);
  }
  replaceStaticRuntimesLoadedSince();
  [[clang::musttail]] return next(handle, name);
}
