// Room jit: the one function of libmneme_jit.so.
#pragma once

#include "runtime/jit/mneme_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Reads settings and the tuned-kernels file. Null if no kernel is tuned; problems are said on
/// stderr. The hooks stay valid for the life of the process. Never throws.
const mneme_hooks* mneme_jit_start(void);

#ifdef __cplusplus
}
#endif
