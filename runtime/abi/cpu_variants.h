// Room abi: further images of registered kernels. The C interface that the
// tuned-kernel JIT finds by name in a process that runs on the CPU device.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// One launch of a variant; grid and block may differ from those the program asked for.
typedef struct mneme_cudart_launch {
  const void* function; ///< host handle of the kernel
  uint32_t grid[3];
  uint32_t block[3];
  void** args;
  size_t sharedBytes;
  void* stream;
  const void* config;     ///< cudaLaunchConfig_t whose attributes count; may be null
  uint32_t isCooperative; ///< cudaLaunchCooperativeKernel
  uint32_t
      hasOwnBounds; ///< the variant is compiled for this block, whatever the kernel's bounds are
} mneme_cudart_launch;

/// Loads another image (compiled for the CPU device) of a registered kernel. It uses the program's
/// device variables, with their initial values in place. Returns 0 and sets `variant`, or the CUDA
/// error code; why it failed is written to `message` (may be null). No last error is left.
int mneme_cudart_load_variant(const void* function, const void* image, size_t imageBytes,
                              void** variant, char* message, size_t messageBytes);

/// Launches a variant. Returns 1 and sets `status` (a CUDA error code)
/// if it ran. Returns 0 when CUDA's rules forbid this launch of the kernel, the device is faulted
/// or the handle belongs to another kernel now: nothing has happened, and cudaLaunchKernel with the
/// program's own parameters says what is wrong. Thread-safe.
int mneme_cudart_launch_variant(void* variant, const mneme_cudart_launch* launch, int* status);

/// What the CPU device is called (device::Description::name); static.
const char* mneme_cudart_device_name(void);

/// No launch of it may be in flight. Null is fine.
void mneme_cudart_free_variant(void* variant);

#ifdef __cplusplus
}
#endif
