// Room recorder: programs that open the HIP runtime by its name (dlopen, Python's ctypes) and look
// its functions up. They get the process itself, in which the recorder's come first.
#include <atomic>
#include <string_view>

#include <dlfcn.h>

#include "runtime/recorder/process_facts.h"
#include "runtime/recorder/recorder_exported.h"

using mneme::record::noteOpenedApart;

namespace {

using Open = void* (*)(const char*, int);
constinit std::atomic<Open> nextOpen{nullptr};

/// In any version and anywhere.
bool isRuntime(std::string_view path) noexcept {
  constexpr std::string_view kName = "libamdhip64.so";
  const std::string_view name = path.substr(path.rfind('/') + 1); // npos + 1 is 0
  return name.starts_with(kName) && (name.size() == kName.size() || name[kName.size()] == '.');
}

/// The recorder opens the runtime for itself, too, past its own functions.
bool isOfRecorder(const void* caller) noexcept {
  static const char here = 0;
  Dl_info ours{}, callers{};
  return dladdr(&here, &ours) && dladdr(caller, &callers) && ours.dli_fbase == callers.dli_fbase;
}

/// Null where the runtime is not found from here: the loader searches where its caller says.
void* openInSight(Open next, const char* path, int mode) noexcept {
  if (next(path, mode | RTLD_GLOBAL))
    return next(nullptr, mode);
  dlerror(); // it is not the program's
  return nullptr;
}

} // namespace

// Under a name of ours: the system's declaration has no exceptions, which a tail call cannot
// promise.
MNEME_RECORD_API void* mneme_record_open(const char* path, int mode) __asm__("dlopen");
void* mneme_record_open(const char* path, int mode) {
  Open next = nextOpen.load(std::memory_order_relaxed);
  if (!next) {
    next = reinterpret_cast<Open>(dlsym(RTLD_NEXT, "dlopen"));
    nextOpen.store(next, std::memory_order_relaxed);
  }
  if (mode & RTLD_DEEPBIND)
    noteOpenedApart();
  // RTLD_NOLOAD only asks whether the library is loaded.
  if (path && !(mode & RTLD_NOLOAD) && isRuntime(path) &&
      !isOfRecorder(__builtin_return_address(0)))
    if (void* process = openInSight(next, path, mode))
      return process;
  [[clang::musttail]] return next(path, mode);
}
