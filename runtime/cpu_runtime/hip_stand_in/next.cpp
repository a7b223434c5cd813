// Stand-in for AMD's runtime: what it leaves to mneme's own, and how it finds that.
#include <dlfcn.h>

#include <string>

#include "runtime/base/dynamic_library.h"
#include "runtime/base/log.h"
#include "runtime/cpu_runtime/hip_stand_in/stand_in.h"

namespace mneme::stand_in {

/// Mneme's own runtime, in a scope of its own: nobody else finds what it exports.
void* nextFunction(const char* name) noexcept {
  static void* const library = [] {
    static const char here = 0;
    const std::string path = directoryOfCode(&here) + "/../libmneme_hiprt.so";
    void* const opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!opened)
      notice("the stand-in for AMD's runtime finds no " + path);
    else
      registerAtProfiler(opened);
    return opened;
  }();
  return library ? dlsym(library, name) : nullptr;
}

} // namespace mneme::stand_in
