// Room core/abi: the data that the passes write for a host function that is compiled at run time,
// and the entry point of its calls. C, append only.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/core/abi/jit_mark.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MNEME_HOST_FUNCTION_ABI 2u
#define MNEME_HOST_IMAGE_ABI 1u

/// One marked function of a translation unit; writable because of `state`, lives as long as its
/// shared object.
typedef struct mneme_host_function {
  uint32_t version; ///< MNEME_HOST_FUNCTION_ABI, or an older one, which has less
  uint32_t markCount;
  const char* name;      ///< mangled
  const void* bitcode;   ///< zstd: the function and all it calls, as raw bitcode
  uint64_t bitcodeBytes; ///< compressed
  uint64_t bitcodeRawBytes;
  uint64_t staticHash;         ///< of the bitcode
  const mneme_jit_mark* marks; ///< by argument, ascending
  /// Addresses of functions and variables that the code refers to but does not own. The compiled
  /// code has a table of the same order, to be filled in.
  void* const* addresses;
  uint64_t addressCount;
  void* built; ///< the function as it was compiled ahead of time
  void* state; ///< belongs to the compiling engine; null at first
  /// The closure type, as demangled, if this is the call operator of a lambda; else null.
  const char* lambda;
  // Since version 2. Which argument is the closure's address, and the closure's size; 0 bytes if
  // that is not known.
  uint32_t closureArgument;
  uint32_t closureBytes;
} mneme_host_function;

/// A relocation in data of compiled code: `*place` becomes the address with this index in the
/// function's table, plus `addend`.
typedef struct mneme_host_fixup {
  void** place;
  uint64_t index;
  int64_t addend;
} mneme_host_fixup;

/// Symbol of compiled code.
#define MNEME_HOST_IMAGE_SYMBOL "mneme_host_image"

typedef struct mneme_host_image {
  uint32_t version; ///< MNEME_HOST_IMAGE_ABI
  uint32_t reserved;
  uint64_t addressCount; ///< as mneme_host_function has it
  void** addresses;      ///< to be filled in before anything is called
  const mneme_host_fixup* fixups;
  uint64_t fixupCount;
  void* entry;
} mneme_host_image;

#pragma GCC visibility push(default)

/// Returns the function to call instead of `function`, for arguments at `arguments` (one pointer
/// each, as for a kernel launch): `built` if it cannot be compiled. Thread-safe.
void* mneme_jit_host_function(mneme_host_function* function, void** arguments);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
