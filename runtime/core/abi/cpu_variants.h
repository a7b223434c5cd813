// Room core/abi: further images of registered kernels. The C interface that the tuned-kernel JIT
// finds in a process that runs on the CPU device, by names with the runtime's prefix instead of
// mneme_cpu: mneme_cudart_load_variant, mneme_hiprt_load_variant.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// One launch of a variant; grid and block may differ from the program's.
typedef struct mneme_cpu_variant_launch {
  const void* function; ///< host handle of the kernel
  uint32_t grid[3];
  uint32_t block[3];
  void** args;
  size_t sharedBytes;
  void* stream;
  const void* config;     ///< of a launch with attributes, which count; may be null
  uint32_t isCooperative; ///< blocks wait for each other
  uint32_t hasOwnBounds;  ///< whether it is compiled for this block, despite the kernel's bounds
} mneme_cpu_variant_launch;

/// Loads another image (compiled for the CPU device) of a registered kernel. It uses the program's
/// device variables, with their initial values in place. Returns 0 and sets `variant`, or returns
/// the vendor's error code and writes the reason to `message` (may be null). Leaves no last error.
int mneme_cpu_load_variant(const void* function, const void* image, size_t imageBytes,
                           void** variant, char* message, size_t messageBytes);

/// Launches a variant. Returns 1 and sets `status` (an error code of the vendor's) if it ran.
/// Returns 0 if the vendor's rules forbid this launch of the kernel, the device has faulted or the
/// handle now belongs to another kernel: nothing has happened, and a launch with the program's own
/// parameters reports the error. Thread-safe.
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
  uint32_t isTied; ///< whether blocks are tied to each other: cooperative, clusters
} mneme_cpu_graph_kernel;

/// Calls `visit` for each kernel of an executable graph, which must not be destroyed meanwhile.
void mneme_cpu_visit_graph(void* exec,
                           void (*visit)(void* user, const mneme_cpu_graph_kernel* kernel),
                           void* user);

/// Makes a node run a variant with another grid and block, until the program sets other parameters.
/// Returns 0, with nothing changed, if a launch would not run the variant.
int mneme_cpu_replace_in_graph(void* exec, const mneme_cpu_graph_kernel* kernel, void* variant,
                               const uint32_t grid[3], const uint32_t block[3]);

/// Returns the CPU device's name (device::Description::name); static.
const char* mneme_cpu_device_name(void);

/// Frees a variant, or null. No launch of it may be in flight.
void mneme_cpu_free_variant(void* variant);

#ifdef __cplusplus
}
#endif
