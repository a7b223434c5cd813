// Room abi: what the driver API on this device (cuda_driver/) needs that the runtime
// API does not offer. Every function returns 0 or a CUDA error code, and leaves no last error.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Loads a fat binary (its wrapper, too), a cubin or PTX from memory, which may go afterwards, or,
/// with `image` null, from the file at `path`. What carries no IR of a kernel is refused, once said
/// why on stderr.
int mneme_cudart_load_module(void** module, const void* image, const char* path);
int mneme_cudart_unload_module(void* module);
/// The kernel's handle, for every function of the runtime that takes one.
int mneme_cudart_module_function(const void** function, void* module, const char* name);
/// A device variable, with its initial value in place; `address` and `bytes` may be null.
int mneme_cudart_module_global(void** address, size_t* bytes, void* module, const char* name);

/// Calls `use` with pointers to the arguments in the buffer of a launch's `extra`.
int mneme_cudart_unpack_arguments(const void* function, void** extra,
                                  int (*use)(void* user, void** args), void* user);

/// Fills `height` rows of `width` elements of 1, 2 or 4 bytes, in the order of the stream.
int mneme_cudart_fill(void* destination, size_t pitch, unsigned value, unsigned elementBytes,
                      size_t width, size_t height, void* stream);

/// The allocation that holds `pointer`; `kind` as in mneme_cpu_adopt().
int mneme_cudart_find_allocation(const void* pointer, void** base, size_t* bytes, int* kind);

#ifdef __cplusplus
}
#endif
