// Room core/abi: the C ABI between instrumented code (written by passes/), libmneme_rt and the
// libraries that take over launches (the recorder, the tuned-kernel JIT). C, no dependency, stable:
// append only.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mneme_dim3 {
  uint32_t x, y, z;
} mneme_dim3;

enum mneme_launch_form {
  MNEME_LAUNCH_PLAIN = 0,       ///< (func, grid, block, args, sharedBytes, stream)
  MNEME_LAUNCH_COOPERATIVE = 1, ///< same parameters, all blocks resident
  MNEME_LAUNCH_EX = 2,          ///< (config*, func, args); dims copied from config
};

/// One kernel launch in any form of the source. Lives on the caller's stack during the call.
typedef struct mneme_launch {
  uint32_t version;   ///< MNEME_RT_ABI
  uint32_t form;      ///< enum mneme_launch_form
  const void* kernel; ///< host handle (stub address) as the vendor's runtime knows it
  mneme_dim3 grid;
  mneme_dim3 block;
  void** args;          ///< one pointer per kernel argument, as the runtime takes them
  uint64_t sharedBytes; ///< dynamic shared memory
  void* stream;
  const void* config; ///< MNEME_LAUNCH_EX: the vendor's config struct, else null
  void* vendorEntry;  ///< the vendor function this launch was written against
} mneme_launch;

#define MNEME_RT_ABI 1u

/// Kernel of one translation unit. Strings and addresses live as long as their shared object.
typedef struct mneme_kernel_entry {
  const void* handle; ///< host stub
  const char* name;   ///< mangled device name
} mneme_kernel_entry;

enum mneme_global_flag {
  MNEME_GLOBAL_CONSTANT = 1,
  MNEME_GLOBAL_MANAGED = 2,
  MNEME_GLOBAL_EXTERN = 4, ///< defined in another unit
  /// Host code can write it only by calls that are followed by mneme_variable_written() and that
  /// wait for earlier work in the stream before they copy.
  MNEME_GLOBAL_WRITES_TOLD = 8,
};

typedef struct mneme_global_entry {
  const void* hostShadow; ///< address the vendor's symbol API takes
  const char* name;       ///< device name
  uint64_t sizeBytes;
  uint32_t flags; ///< mneme_global_flag
  uint32_t reserved;
} mneme_global_entry;

/// One per translation unit, a constant in the host object, registered by a constructor and
/// unregistered by a destructor (shared libraries come and go).
typedef struct mneme_module_entry {
  uint32_t version; ///< MNEME_RT_ABI
  uint32_t vendor;  ///< 0 CUDA, 1 HIP
  /// Fat binary wrapper {magic, version, data, ...}. Null with relocatable device code, whose
  /// wrapper is made at link time: libmneme_rt then finds it in the ELF sections of the same
  /// object.
  const void* fatbinWrapper;
  const mneme_kernel_entry* kernels;
  const mneme_global_entry* globals;
  uint64_t kernelCount;
  uint64_t globalCount;
} mneme_module_entry;

// Visible outside the library that defines them, regardless of compiler options.
#pragma GCC visibility push(default)

/// The single entry point of launches. Without hooks it costs one load and one branch before the
/// vendor's call. Returns the vendor's result.
int mneme_launch_kernel(const mneme_launch* launch);

/// Calls the vendor function a launch was written against.
int mneme_rt_call_vendor(const mneme_launch* launch);

void mneme_rt_register_module(const mneme_module_entry* module);
void mneme_rt_unregister_module(const mneme_module_entry* module);

/// The functions of a library that takes over launches. They must not throw.
typedef struct mneme_hooks {
  uint32_t version; ///< MNEME_RT_ABI
  void* user;
  int (*launch)(void* user, const mneme_launch* launch);
  void (*module_unregistered)(void* user, const mneme_module_entry* module);
} mneme_hooks;

/// Installs hooks (null removes them). `hooks` must stay valid until replaced.
void mneme_rt_set_hooks(const mneme_hooks* hooks);

/// How a program sets the kernels of an executable graph.
enum mneme_graph_form {
  MNEME_GRAPH_MADE = 0,    ///< by a function that writes the graph's handle
  MNEME_GRAPH_UPDATED = 1, ///< by a function that takes it and changes parameters of nodes
};

/// Call it after a vendor's function returned `status`. `exec` is the handle of an executable
/// graph, or the place it was written to, `graph` the graph it was made from. `vendor` as in
/// mneme_module_entry.
void mneme_graph_changed(int status, uint32_t form, uint32_t vendor, void* exec, void* graph);

/// Called for every executable graph that was made or updated. Must not throw.
typedef void (*mneme_graph_hook)(uint32_t vendor, void* exec, void* graph, uint32_t form);
/// Installs the hook permanently.
void mneme_rt_set_graph_hook(mneme_graph_hook hook);

/// Call it when the program has written a variable with MNEME_GLOBAL_WRITES_TOLD.
void mneme_variable_written(void);
/// Returns the number of such writes in the whole process.
uint64_t mneme_rt_variable_writes(void);

/// Finds the module and kernel name of a host handle; returns 0 and leaves outputs alone if the
/// handle is not from an instrumented translation unit. Thread-safe.
int mneme_rt_find_kernel(const void* handle, const mneme_module_entry** module, const char** name);

/// Calls `visit` for every registered module. Thread-safe; `visit` must not register modules.
void mneme_rt_visit_modules(void (*visit)(void* user, const mneme_module_entry* module),
                            void* user);

/// Fat binaries of a module: its wrapper's, or (relocatable device code) every fat binary found in
/// the ELF object that holds `module`. Writes at most `capacity` pointers to fat binary headers and
/// returns how many there are.
size_t mneme_rt_fatbins(const mneme_module_entry* module, const void** fatbins, size_t capacity);

/// Registers the fat binary of `wrapper` with CUDA by `vendor` and returns its result. Where the
/// binary has no code for a GPU of this machine, code that is compiled from its IR is registered
/// with it (mneme_jit_complete_code()).
void** mneme_rt_register_code(const void* wrapper, void** (*vendor)(const void* wrapper));

/// Call them when the vendor's runtime has registered the fat binary of `wrapper` {magic, version,
/// data, ...} and returned `handle`, and when it is about to forget it. For runtimes that find a
/// variable only by its registration (HIP). In a forked child they do nothing.
void mneme_rt_code_registered(const void* wrapper, void* handle);
void mneme_rt_code_unregistered(void* handle);
/// Returns the handle of a fat binary, or null. `number`, unless null, receives the number of the
/// registration, because handles may be used again for other code.
void* mneme_rt_code_handle(const void* fatbin, uint64_t* number);

/// The environment variables and the working directory (null: unknown) of the process when
/// libmneme_rt was loaded. The variables end with null; the list is null if there was no memory for
/// a copy.
const char* const* mneme_rt_environment(void);
const char* mneme_rt_directory(void);
/// Descriptor for messages about tuned kernels: stderr as it was when the program was loaded, -1 if
/// the program has closed it since (runtime/core/base/standard_error.h).
int mneme_rt_standard_error(void);

/// Writes the labels that the calling thread has given its launches, the outermost first, at most
/// `capacity` of them, and returns how many there are. They are valid until the thread gives or
/// takes one.
size_t mneme_rt_labels(const char** labels, size_t capacity);

/// Announces that units will be registered while the program runs.
void mneme_rt_expect_modules(void);
/// Whether mneme_rt_expect_modules() was called.
int mneme_rt_modules_are_expected(void);

/// Called when a unit is loaded whose kernels may be compiled at run time (the JIT interface).
void mneme_jit_expect(void);
/// Whether mneme_jit_expect() was called.
int mneme_jit_is_expected(void);
/// Enable and disable compiling kernels at run time from now on.
void mneme_jit_enable(void);
void mneme_jit_disable(void);
int mneme_jit_is_disabled(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
