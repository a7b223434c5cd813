// Room jit/loaded: functions of libmneme_rt that this library links without it: what a program
// loads is no unit, and has no marks.
#include "runtime/core/abi/mneme_jit_plugins.h"
#include "runtime/core/abi/mneme_rt.h"

void mneme_rt_visit_modules(void (*)(void*, const mneme_module_entry*), void*) {}

size_t mneme_rt_fatbins(const mneme_module_entry*, const void**, size_t) { return 0; }

const mneme_pass_plugins* mneme_jit_pass_plugins(void) { return nullptr; }
