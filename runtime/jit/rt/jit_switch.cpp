// What units of the JIT interface, calls of proteus::enable() and disable(), and modules made at
// run time ask for.
#include "runtime/core/abi/mneme_rt.h"
#include "runtime/jit/rt/rt_launch.h"

namespace {

int isExpected = 0;
int isDisabled = 0;
int areModulesExpected = 0;

/// As the reference tool has it, both engines are there once they are switched: they say so at
/// exit. Without kernels there is only the one for host functions.
void setDisabled(int value) {
  __atomic_store_n(&isDisabled, value, __ATOMIC_RELAXED);
  mneme::rt::prepareHostFunctions();
  bool hasModules = false;
  mneme_rt_visit_modules(
      [](void* user, const mneme_module_entry*) { *static_cast<bool*>(user) = true; }, &hasModules);
  if (hasModules)
    mneme::rt::prepareLaunches();
}

} // namespace

void mneme_jit_expect(void) {
  if (__atomic_exchange_n(&isExpected, 1, __ATOMIC_RELAXED))
    return;
  mneme::rt::prepareTunedKernels();
  mneme::rt::checkSettings();
}

int mneme_jit_is_expected(void) { return __atomic_load_n(&isExpected, __ATOMIC_RELAXED); }

void mneme_rt_expect_modules(void) { __atomic_store_n(&areModulesExpected, 1, __ATOMIC_RELAXED); }
int mneme_rt_modules_are_expected(void) {
  return __atomic_load_n(&areModulesExpected, __ATOMIC_RELAXED);
}

void mneme_jit_enable(void) { setDisabled(0); }
void mneme_jit_disable(void) { setDisabled(1); }
int mneme_jit_is_disabled(void) { return __atomic_load_n(&isDisabled, __ATOMIC_RELAXED); }
