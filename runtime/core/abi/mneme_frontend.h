// Room core/abi: modules that a process compiles while it runs, for callers that are not C++
// (Python's package `proteus`). C, append only; no exception leaves these functions.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MNEME_FRONTEND_ABI 1u

enum { MNEME_FRONTEND_CPP = 0, MNEME_FRONTEND_LLVM_IR = 1, MNEME_FRONTEND_MLIR = 2 };
enum { MNEME_FRONTEND_CLANG = 0, MNEME_FRONTEND_NVCC = 1 };

typedef struct mneme_frontend_source {
  uint32_t version;   ///< MNEME_FRONTEND_ABI
  uint32_t language;  ///< MNEME_FRONTEND_CPP, ...
  const char* target; ///< "host", "cuda", "hip"; C++ also "host_cuda", "host_hip"
  const char* code;
  uint64_t codeBytes;
  const char* const* extraArguments; ///< C++: last on the compiler's command line
  uint32_t extraCount;
  uint32_t compiler; ///< MNEME_FRONTEND_CLANG, ...; C++
} mneme_frontend_source;

typedef struct mneme_frontend_module mneme_frontend_module;

#pragma GCC visibility push(default)

/// Compiles. Returns null on failure; mneme_frontend_error() has the reason.
mneme_frontend_module* mneme_frontend_compile(const mneme_frontend_source* source);
/// Closes a module. Addresses of its code stay valid.
void mneme_frontend_close(mneme_frontend_module* module);

/// Returns null on failure, as above.
void* mneme_frontend_function(mneme_frontend_module* module, const char* name);
/// Returns the handle for mneme_frontend_launch(), or null as above.
void* mneme_frontend_kernel(mneme_frontend_module* module, const char* name);

/// `grid`, `block`: x, y, z. `arguments`: one pointer per argument. `status` receives the result of
/// the vendor's runtime. Returns 0, or -1 if the runtime was not called; see
/// mneme_frontend_error().
int mneme_frontend_launch(mneme_frontend_module* module, void* kernel, const uint32_t* grid,
                          const uint32_t* block, void** arguments, uint64_t sharedBytes,
                          void* stream, int* status);

/// Returns the program that lowers MLIR modules; null if there is none. Valid until this thread's
/// next call.
const char* mneme_frontend_mlir_opt(void);

/// Tells modules that an engine for marked code has started, for GPUs or for the host. It will
/// print a report at the end of the process, after those of modules that were made before. Found by
/// name.
void mneme_frontend_engine_begins(int isForGpu);
#define MNEME_FRONTEND_ENGINE_BEGINS "mneme_frontend_engine_begins"

/// Returns the reason of this thread's last failed call; valid until its next call.
const char* mneme_frontend_error(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
