// Room abi: the LLVM pass plugins that a program has registered for what it compiles at run time
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

/// In the order of their registration. Equal ones are one object, which is never freed.
typedef struct mneme_pass_plugins {
  struct mneme_pass_plugins* older; ///< of every list there ever was
  uint64_t count;
  mneme_pass_plugin* plugins;
} mneme_pass_plugins;

#pragma GCC visibility push(default)

/// The same pair twice counts once. Thread-safe, as the others.
void mneme_jit_add_pass_plugin(const char* path, const char* pipeline);
void mneme_jit_clear_pass_plugins(void);
/// Those of now; null if there are none.
const mneme_pass_plugins* mneme_jit_pass_plugins(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
