// Stand-in for AMD's runtime: what it leaves to mneme's own, and how it finds that.
#include <dlfcn.h>

#include <string>

#include "runtime/core/base/dynamic_library.h"
#include "runtime/core/base/log.h"
#include "tests/hip_stand_in/stand_in.h"

namespace mneme::stand_in {
namespace {

constexpr int kHip7 = 70000000;

void prepare(void* runtime) noexcept {
  registerAtProfiler(runtime);
  // Up to HIP 6 every call sets the last error, since 7 those that fail (HIP_RETURN in hipamd's
  // hip_internal.hpp; 5.7 to 6.2 in ROCm/clr, 7 in ROCm/rocm-systems).
  if (void* const forget = dlsym(runtime, "mneme_hiprt_forget_errors");
      forget && versionAskedFor() < kHip7)
    reinterpret_cast<void (*)()>(forget)();
}

} // namespace

/// Mneme's own runtime, in a separate scope, so that its exports are invisible elsewhere.
void* nextFunction(const char* name) noexcept {
  static void* const library = [] {
    static const char here = 0;
    const std::string path = directoryOfCode(&here) + "/../libmneme_hiprt.so";
    void* const opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!opened)
      notice("the stand-in for AMD's runtime finds no " + path);
    else
      prepare(opened);
    return opened;
  }();
  return library ? dlsym(library, name) : nullptr;
}

} // namespace mneme::stand_in
