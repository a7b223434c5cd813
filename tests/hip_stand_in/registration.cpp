// Stand-in for AMD's runtime: how it finds a profiler. Like librocprofiler-register, which does so
// for AMD's, it takes one whose entry is a symbol of the process already (rocprofiler_register.cpp
// of https://github.com/ROCm/rocprofiler-register).
#include <dlfcn.h>

#include "runtime/emulator/runtimes/core/launch.h"
#include "tests/hip_stand_in/stand_in.h"

namespace mneme::stand_in {
namespace {

using cpu_runtime::LaunchWatcher;

void lookAway(const cpu_runtime::SeenLaunch&) {}

} // namespace

void registerAtProfiler(void* runtime) noexcept {
  void* const asked = dlsym(RTLD_DEFAULT, "mneme_stand_in_dispatched");
  if (void* const watch = dlsym(runtime, "mneme_hiprt_watch_launches"))
    reinterpret_cast<void (*)(LaunchWatcher)>(watch)(asked ? reinterpret_cast<LaunchWatcher>(asked)
                                                           : lookAway);
}

} // namespace mneme::stand_in
