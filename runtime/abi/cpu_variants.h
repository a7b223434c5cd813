// Room abi: further images of registered kernels. The C interface that the tuned-kernel JIT finds
// in a process that runs on the CPU device, by names that begin with the runtime's in place of
// mneme_cpu: mneme_cudart_load_variant, mneme_hiprt_load_variant.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// One launch of a variant; grid and block may differ from those the program asked for.
typedef struct mneme_cpu_variant_launch {
  const void* function; ///< host handle of the kernel
  uint32_t grid[3];
  uint32_t block[3];
  void** args;
  size_t sharedBytes;
  void* stream;
  const void* config;     ///< of a launch with attributes, which count; may be null
  uint32_t isCooperative; ///< blocks wait for each other
  uint32_t
      hasOwnBounds; ///< the variant is compiled for this block, whatever the kernel's bounds are
} mneme_cpu_variant_launch;

/// Loads another image (compiled for the CPU device) of a registered kernel. It uses the program's
/// device variables, with their initial values in place. Returns 0 and sets `variant`, or the
/// vendor's error code; why it failed is written to `message` (may be null). No last error is left.
int mneme_cpu_load_variant(const void* function, const void* image, size_t imageBytes,
                           void** variant, char* message, size_t messageBytes);

/// Launches a variant. Returns 1 and sets `status` (an error code of the vendor's) if it ran.
/// Returns 0 when the vendor's rules forbid this launch of the kernel, the device is faulted or the
/// handle belongs to another kernel now: nothing has happened, and a launch with the program's own
/// parameters says what is wrong. Thread-safe.
int mneme_cpu_launch_variant(void* variant, const mneme_cpu_variant_launch* launch, int* status);

/// What the CPU device is called (device::Description::name); static.
const char* mneme_cpu_device_name(void);

/// No launch of it may be in flight. Null is fine.
void mneme_cpu_free_variant(void* variant);

#ifdef __cplusplus
}
#endif
