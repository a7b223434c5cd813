// Loads the tuned-kernel JIT when a program asks for it. C library only.
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/core/abi/mneme_jit.h"
#include "runtime/core/abi/mneme_jit_capture.h"
#include "runtime/core/base/environment.h"
#include "runtime/core/base/standard_error.h"
#include "runtime/core/base/write_signals.h"
#include "runtime/jit/rt/rt_launch.h"

namespace {

constexpr const char* kLibrary = "libmneme_jit.so";
constexpr const char* kNvidiaDriver = "/dev/nvidiactl";

/// Before anything of the program, which may clear its environment or go elsewhere.
[[gnu::constructor(101)]] void keep() { mneme::keepEnvironment(); }

bool namesTunedKernels() {
  const char* file = mneme::environmentValue("PROTEUS_TUNED_KERNELS");
  return file && *file;
}

bool isDisabled() {
  const char* disable = mneme::environmentValue("PROTEUS_DISABLE");
  return disable && strtol(disable, nullptr, 10) != 0;
}

/// Whether the environment has more to say to the JIT than that it is off.
bool saysSettings() {
  if (mneme::isPrivileged())
    return false;
  for (const char* const* kept = mneme::keptEnvironment.variables; kept && *kept; ++kept)
    if (strncmp(*kept, "PROTEUS_", strlen("PROTEUS_")) == 0 &&
        strcmp(*kept, "PROTEUS_DISABLE=1") != 0)
      return true;
  return false;
}

bool wantsTunedKernels() { return namesTunedKernels() && !isDisabled(); }

/// Tuned kernels, or those that the program itself marks.
bool wantsEngine() { return (namesTunedKernels() || mneme_jit_is_expected()) && !isDisabled(); }

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
  mneme::BlockedWriteSignals signals;
  if (write(mneme::standardError(), line, used) < 0)
    signals.noteFailure(errno);
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

void* openLibrary() {
  void* const library = openBeside(reinterpret_cast<const void*>(&wantsTunedKernels));
  return library ? library : dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
}

void* theLibrary = nullptr;

[[gnu::constructor]] void prepare() { mneme::rt::prepareTunedKernels(); }

} // namespace

namespace mneme::rt {

/// When its first kernel is launched the program may have other files under stderr's number.
void prepareTunedKernels() {
  if (theLibrary || !wantsEngine())
    return;
  mneme::rememberStandardError();
  theLibrary = openLibrary();
}

void checkSettings() {
  if (!saysSettings())
    return;
  mneme::rememberStandardError();
  if (!theLibrary)
    theLibrary = openLibrary();
  const auto check = theLibrary ? reinterpret_cast<decltype(&mneme_jit_check_settings)>(
                                      dlsym(theLibrary, "mneme_jit_check_settings"))
                                : nullptr;
  if (check)
    check();
}

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

void explainNoDevice(bool isDriverThere) {
  rememberStandardError();
  char sentence[1024];
  snprintf(sentence, sizeof sentence,
           "; to run the program without a GPU: mneme run --device cpu -- %.900s",
           program_invocation_name);
  say(isDriverThere
          ? "no kernel of this program runs here: there is no GPU"
          : "no kernel of this program runs here: there is no driver for a GPU, or it is too "
            "old",
      sentence);
}

const void* completeCode(const void* wrapper) {
  const char* const setting = environmentValue("MNEME_COMPILE_FOR_GPU");
  const bool isForced = setting && *setting;
  if (isPrivileged() || (isForced ? strcmp(setting, "0") == 0 : access(kNvidiaDriver, F_OK) != 0))
    return nullptr;
  rememberStandardError();
  if (!theLibrary)
    theLibrary = openLibrary();
  const auto complete = theLibrary ? reinterpret_cast<decltype(&mneme_jit_complete_code)>(
                                         dlsym(theLibrary, "mneme_jit_complete_code"))
                                   : nullptr;
  return complete ? complete(wrapper) : nullptr;
}

const mneme_hooks* startTunedKernels() {
  if (!wantsEngine())
    return nullptr;
  void* const library = theLibrary ? theLibrary : openLibrary();
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

HostFunctionFinder startHostFunctions() {
  rememberStandardError();
  void* const library = theLibrary ? theLibrary : openLibrary();
  const auto start =
      library ? reinterpret_cast<HostFunctionFinder (*)()>(dlsym(library, "mneme_jit_start_host"))
              : nullptr;
  const HostFunctionFinder finder = start ? start() : nullptr;
  if (!start) {
    const char* why = dlerror();
    say("marked functions run as they were built: ", why ? why : "libmneme_jit.so is missing");
  }
  return finder;
}

} // namespace mneme::rt

int mneme_jit_capture_kernel(const void* kernel, mneme_capture_taker take, void* user) {
  mneme::rt::prepareLaunches();
  static void* library = nullptr;
  void* opened = __atomic_load_n(&library, __ATOMIC_ACQUIRE);
  if (!opened) {
    opened = theLibrary ? theLibrary : openLibrary();
    __atomic_store_n(&library, opened, __ATOMIC_RELEASE);
  }
  using Capture = decltype(&mneme_jit_capture_kernel);
  const auto capture =
      opened ? reinterpret_cast<Capture>(dlsym(opened, "mneme_jit_capture_kernel")) : nullptr;
  return capture ? capture(kernel, take, user) : 0;
}

void** mneme_rt_register_code(const void* wrapper, void** (*vendor)(const void*)) {
  const void* const completed = mneme::rt::completeCode(wrapper);
  return vendor(completed ? completed : wrapper);
}

const char* const* mneme_rt_environment(void) { return mneme::keptEnvironment.variables; }
const char* mneme_rt_directory(void) { return mneme::keptEnvironment.directory; }
int mneme_rt_standard_error(void) { return mneme::standardError(); }
