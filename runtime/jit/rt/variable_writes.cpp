// How often the program has written variables whose writes the compiler pass sees.
#include "runtime/core/abi/mneme_rt.h"

namespace {

uint64_t writes = 0;

} // namespace

void mneme_variable_written(void) { __atomic_add_fetch(&writes, 1, __ATOMIC_RELEASE); }

uint64_t mneme_rt_variable_writes(void) { return __atomic_load_n(&writes, __ATOMIC_ACQUIRE); }
