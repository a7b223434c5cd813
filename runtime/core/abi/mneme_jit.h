// Room core/abi: the functions of libmneme_jit.so.
#pragma once

#include "runtime/core/abi/mneme_jit_host.h"
#include "runtime/core/abi/mneme_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/// Reads settings and the tuned-kernels file. Returns null if no kernel is tuned; problems are
/// reported on stderr. The hooks stay valid for the life of the process. Never throws.
const mneme_hooks* mneme_jit_start(void);

/// Ends a program with marks before main() if settings in its environment are invalid: they are
/// read once. Changes nothing else. Never throws.
void mneme_jit_check_settings(void);

/// Reads settings. Returns the function that mneme_jit_host_function() calls from then on; null on
/// failure. Never throws.
void* (*mneme_jit_start_host(void))(mneme_host_function* function, void** arguments);

/// Returns a wrapper to register with CUDA in place of `wrapper`, the unit's: its fat binary also
/// has code for those GPUs of this machine that the unit has none for, compiled from the IR in it.
/// Null if that is not needed or fails, which is reported. MNEME_COMPILE_FOR_GPU=0 turns it off; a
/// list of architectures ("sm_80,sm_90") stands for the machine's. Never throws.
const void* mneme_jit_complete_code(const void* wrapper);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
