#include "runtime/jit/launch.h"

namespace {

using PlainLaunch = int (*)(const void* kernel, mneme_dim3 grid, mneme_dim3 block, void** args,
                            size_t sharedBytes, void* stream);
using ConfigLaunch = int (*)(const void* config, const void* kernel, void** args);

const mneme_hooks* activeHooks = nullptr;

int callVendor(const mneme_launch& launch) {
  if (launch.form == MNEME_LAUNCH_EX)
    return reinterpret_cast<ConfigLaunch>(launch.vendorEntry)(launch.config, launch.kernel,
                                                              launch.args);
  return reinterpret_cast<PlainLaunch>(launch.vendorEntry)(
      launch.kernel, launch.grid, launch.block, launch.args, launch.sharedBytes, launch.stream);
}

} // namespace

namespace mneme::rt {

const mneme_hooks* hooks() { return __atomic_load_n(&activeHooks, __ATOMIC_ACQUIRE); }

} // namespace mneme::rt

int mneme_launch_kernel(const mneme_launch* launch) {
  const mneme_hooks* hooks = mneme::rt::hooks();
  if (__builtin_expect(hooks == nullptr, 1))
    return callVendor(*launch);
  return hooks->launch(hooks->user, launch);
}

int mneme_rt_call_vendor(const mneme_launch* launch) { return callVendor(*launch); }

void mneme_rt_set_hooks(const mneme_hooks* hooks) {
  // Hooks of another ABI would be called with a record they do not know.
  if (hooks && (hooks->version != MNEME_RT_ABI || !hooks->launch))
    return;
  __atomic_store_n(&activeHooks, hooks, __ATOMIC_RELEASE);
}
