// Room core/abi: functions that the driver API on this device (cuda_driver/) needs and the runtime
// API lacks. Every function returns 0 or a CUDA error code, and leaves no last error.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Loads a fat binary (its wrapper, too), a cubin or PTX from memory, which may be freed
/// afterwards, or, with `image` null, from the file at `path`. Refuses code without the IR of a
/// kernel; stderr gets the reason once.
int mneme_cudart_load_module(void** module, const void* image, const char* path);
int mneme_cudart_unload_module(void* module);
/// Returns the kernel's handle for functions of the runtime.
int mneme_cudart_module_function(const void** function, void* module, const char* name);
/// Returns a device variable, which has its initial value; `address` and `bytes` may be null.
int mneme_cudart_module_global(void** address, size_t* bytes, void* module, const char* name);

/// Calls `use` with pointers to the arguments in the buffer of a launch's `extra`.
int mneme_cudart_unpack_arguments(const void* function, void** extra,
                                  int (*use)(void* user, void** args), void* user);

/// Fills `height` rows of `width` elements of 1, 2 or 4 bytes, in stream order.
int mneme_cudart_fill(void* destination, size_t pitch, unsigned value, unsigned elementBytes,
                      size_t width, size_t height, void* stream);

/// Finds the allocation that contains `pointer`; `kind` as in mneme_cpu_adopt().
int mneme_cudart_find_allocation(const void* pointer, void** base, size_t* bytes, int* kind);

/// Returns 1 if this function of a static runtime inside of the program, or of a library, was made
/// to jump to the process's own; null: if any was.
int mneme_cudart_has_replaced(const void* function);

/// Returns 1 if a sentence has named this caller's library as one whose static runtime stays.
int mneme_cudart_is_reported_unreplaced(const void* caller);

#ifdef __cplusplus
}
#endif
