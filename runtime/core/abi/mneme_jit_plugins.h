// Room core/abi: the LLVM pass plugins that a program has registered for compilations at run time
// (include/proteus/Init.h). C, append only.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mneme_pass_plugin {
  const char* path;
  const char* pipeline; ///< names of its passes, as a pass pipeline has them
} mneme_pass_plugin;

/// Plugins in the order of their registration. Equal lists share an object, which is never freed.
typedef struct mneme_pass_plugins {
  struct mneme_pass_plugins* older; ///< links all lists that ever existed
  uint64_t count;
  mneme_pass_plugin* plugins;
} mneme_pass_plugins;

#pragma GCC visibility push(default)

/// Adds a plugin; the same pair twice counts once. Thread-safe, like the other functions.
void mneme_jit_add_pass_plugin(const char* path, const char* pipeline);
void mneme_jit_clear_pass_plugins(void);
/// Returns the present plugins; null if there are none.
const mneme_pass_plugins* mneme_jit_pass_plugins(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
