// What units of the JIT interface and calls of proteus::enable() and disable() ask for.
#include "runtime/abi/mneme_rt.h"
#include "runtime/rt/launch.h"

namespace {

int isExpected = 0;
int isDisabled = 0;

} // namespace

void mneme_jit_expect(void) {
  if (!__atomic_exchange_n(&isExpected, 1, __ATOMIC_RELAXED))
    mneme::rt::prepareTunedKernels();
}

int mneme_jit_is_expected(void) { return __atomic_load_n(&isExpected, __ATOMIC_RELAXED); }

void mneme_jit_enable(void) { __atomic_store_n(&isDisabled, 0, __ATOMIC_RELAXED); }
void mneme_jit_disable(void) { __atomic_store_n(&isDisabled, 1, __ATOMIC_RELAXED); }
int mneme_jit_is_disabled(void) { return __atomic_load_n(&isDisabled, __ATOMIC_RELAXED); }
