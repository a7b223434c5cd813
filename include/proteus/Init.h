// Switching compilation at run time on and off.
#pragma once

#include <string>

#include <proteus/Error.h>

extern "C" {
// Weak: null in a program that is not linked with libmneme_rt.
[[gnu::weak]] void mneme_jit_enable(void);
[[gnu::weak]] void mneme_jit_disable(void);
[[gnu::weak]] void mneme_jit_add_pass_plugin(const char* path, const char* pipeline);
[[gnu::weak]] void mneme_jit_clear_pass_plugins(void);
}

namespace proteus {

/// Nothing needs to be begun or ended; for programs that say so.
inline void init() {}
inline void finalize() {}

/// Kernels are specialised from now on, unless PROTEUS_DISABLE=1 says no.
inline void enable() {
  if (mneme_jit_enable)
    mneme_jit_enable();
}

/// Kernels run as they were built from now on. Host functions do not change.
inline void disable() {
  if (mneme_jit_disable)
    mneme_jit_disable();
}

/// Loads an LLVM pass plugin into the compiler of marked code and appends `Pipeline`, which is not
/// empty, to the pipeline in force (that of PROTEUS_OPT_LEVEL if no other is named). The same pair
/// twice counts once.
inline void registerJITPassPlugin(const std::string& Path, const std::string& Pipeline) {
  if (Path.empty())
    reportFatalError("JIT pass plugin path must be non-empty");
  if (Pipeline.empty())
    reportFatalError("JIT pass plugin pipeline must be non-empty");
  if (mneme_jit_add_pass_plugin)
    mneme_jit_add_pass_plugin(Path.c_str(), Pipeline.c_str());
}

inline void clearJITPassPlugins() {
  if (mneme_jit_clear_pass_plugins)
    mneme_jit_clear_pass_plugins();
}

} // namespace proteus
