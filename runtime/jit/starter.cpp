// Loads the tuned-kernel JIT when a program asks for it. C library only.
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/jit/launch.h"
#include "runtime/jit/start.h"

namespace {

constexpr const char* kLibrary = "libmneme_jit.so";

bool wantsTunedKernels() {
  const char* file = getenv("PROTEUS_TUNED_KERNELS");
  if (!file || !*file)
    return false;
  const char* disable = getenv("PROTEUS_DISABLE");
  return !disable || strtol(disable, nullptr, 10) == 0;
}

void say(const char* first, const char* second) {
  char line[2048];
  size_t used = 0;
  const char* const parts[] = {"mneme: ", first, second, "\n"};
  for (const char* part : parts) {
    const size_t room = sizeof(line) - 1 - used;
    const size_t bytes = strlen(part) < room ? strlen(part) : room;
    memcpy(line + used, part, bytes);
    used += bytes;
  }
  if (line[used - 1] != '\n')
    line[used++] = '\n';
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, used);
}

void* openBeside(const void* address) {
  Dl_info info{};
  char path[PATH_MAX];
  if (!dladdr(address, &info) || !info.dli_fname || !realpath(info.dli_fname, path))
    return nullptr;
  char* slash = strrchr(path, '/');
  if (!slash || static_cast<size_t>(slash + 1 - path) + strlen(kLibrary) >= sizeof(path))
    return nullptr;
  strcpy(slash + 1, kLibrary);
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

} // namespace

namespace mneme::rt {

void warnIfRecordingUntuned() {
  static int isSaid = 0;
  size_t modules = 0;
  if (!isRecording() || !wantsTunedKernels())
    return;
  mneme_rt_visit_modules(
      [](void* user, const mneme_module_entry*) { ++*static_cast<size_t*>(user); }, &modules);
  if (modules > 0 && !__atomic_exchange_n(&isSaid, 1, __ATOMIC_RELAXED))
    say("PROTEUS_TUNED_KERNELS has no effect while the program is recorded; ",
        "kernels run as they were built");
}

const mneme_hooks* startTunedKernels() {
  if (!wantsTunedKernels())
    return nullptr;
  void* library = openBeside(reinterpret_cast<const void*>(&wantsTunedKernels));
  if (!library)
    library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* why = dlerror();
    say("kernels run as they were built, not as tuned: ", why ? why : "libmneme_jit.so is missing");
    return nullptr;
  }
  const auto start = reinterpret_cast<const mneme_hooks* (*)()>(dlsym(library, "mneme_jit_start"));
  const mneme_hooks* hooks = start ? start() : nullptr;
  const bool isUsable = hooks && hooks->version == MNEME_RT_ABI && hooks->launch;
  if (!start || (hooks && !isUsable))
    say("kernels run as they were built, not as tuned: ",
        "libmneme_jit.so and libmneme_rt.so are of different releases");
  return isUsable ? hooks : nullptr;
}

} // namespace mneme::rt
