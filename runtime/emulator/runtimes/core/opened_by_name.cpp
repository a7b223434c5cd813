// Room emulator/runtimes: programs that open the vendor's runtime by its name (dlopen, Python's
// ctypes). They get the process itself: what they look up there is found in what is preloaded, the
// recorder before this library. The vendor's own would find no GPU.
#include <atomic>
#include <cstring>

#include <dlfcn.h>

#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/vendor.h"

namespace {

using Open = void* (*)(const char*, int);
constinit std::atomic<Open> nextOpen{nullptr};

/// Whether a path leads to the vendor's runtime, in any version and anywhere.
bool isRuntime(const char* path) noexcept {
  const char* slash = std::strrchr(path, '/');
  const char* name = slash ? slash + 1 : path;
  const size_t length = std::strlen(mneme::cpu_runtime::vendor.library);
  return std::strncmp(name, mneme::cpu_runtime::vendor.library, length) == 0 &&
         (name[length] == '\0' || name[length] == '.');
}

} // namespace

// Under a name of ours: the system's declaration has no exceptions, which a tail call cannot
// promise.
MNEME_RUNTIME_API void* mneme_open(const char* path, int mode) __asm__("dlopen");
void* mneme_open(const char* path, int mode) {
  Open next = nextOpen.load(std::memory_order_relaxed);
  if (!next) {
    next = reinterpret_cast<Open>(dlsym(RTLD_NEXT, "dlopen"));
    nextOpen.store(next, std::memory_order_relaxed);
  }
  // RTLD_NOLOAD only asks whether the vendor's library is loaded, as our own code does.
  if (path && !(mode & RTLD_NOLOAD) && isRuntime(path))
    path = nullptr;
  // The loader searches on behalf of its caller, which must remain the caller of this function.
  [[clang::musttail]] return next(path, mode);
}
