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

/// Whether work given to this stream becomes part of a graph. Leaves no last error.
int mneme_cpu_is_capturing(void* stream);

/// A kernel in an executable graph, as the program put it there.
typedef struct mneme_cpu_graph_kernel {
  void* node; ///< of the executable graph
  const void* function;
  uint32_t grid[3];
  uint32_t block[3];
  void** args;
  size_t sharedBytes;
  uint32_t isTied; ///< blocks are tied to each other: cooperative, clusters
} mneme_cpu_graph_kernel;

/// Calls `visit` for each kernel of an executable graph, which must not be destroyed meanwhile.
void mneme_cpu_visit_graph(void* exec,
                           void (*visit)(void* user, const mneme_cpu_graph_kernel* kernel),
                           void* user);

/// Lets a node run a variant with another grid and block, until the program gives it other
/// parameters. Returns 0 where a launch would not run the variant; nothing has happened then.
int mneme_cpu_replace_in_graph(void* exec, const mneme_cpu_graph_kernel* kernel, void* variant,
                               const uint32_t grid[3], const uint32_t block[3]);

/// What the CPU device is called (device::Description::name); static.
const char* mneme_cpu_device_name(void);

/// No launch of it may be in flight. Null is fine.
void mneme_cpu_free_variant(void* variant);

#ifdef __cplusplus
}
#endif
