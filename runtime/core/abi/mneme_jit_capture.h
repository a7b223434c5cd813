// Room core/abi: facts that a program can read about its own marked kernels
// (include/proteus/KernelMetadata.h).
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mneme_captured_global {
  const char* name;
  const void* hostAddress;
  const void* deviceAddress; ///< on the current device; null if unknown
  uint64_t sizeBytes;
} mneme_captured_global;

typedef struct mneme_captured_kernel {
  const char* name; ///< mangled
  uint64_t staticHash;
  const void* bitcode; ///< LLVM bitcode of the kernel with everything it reaches
  uint64_t bitcodeBytes;
  const mneme_captured_global* globals; ///< every device variable of the unit
  uint64_t globalCount;
} mneme_captured_kernel;

typedef void (*mneme_capture_taker)(void* user, const mneme_captured_kernel* kernel);

#pragma GCC visibility push(default)

/// Calls `take` once with the facts about a marked kernel, given its host handle, and returns 1.
/// Returns 0 for other kernels. Works before any launch. Thread-safe.
int mneme_jit_capture_kernel(const void* kernel, mneme_capture_taker take, void* user);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
