#include "runtime/jit/rt/rt_launch.h"

#include <stdlib.h>
#include <time.h>

#include "runtime/core/base/cancellation.h"

namespace {

using PlainLaunch = int (*)(const void* kernel, mneme_dim3 grid, mneme_dim3 block, void** args,
                            size_t sharedBytes, void* stream);
using ConfigLaunch = int (*)(const void* config, const void* kernel, void** args);

int callVendor(const mneme_launch& launch) {
  if (launch.form == MNEME_LAUNCH_EX)
    return reinterpret_cast<ConfigLaunch>(launch.vendorEntry)(launch.config, launch.kernel,
                                                              launch.args);
  return reinterpret_cast<PlainLaunch>(launch.vendorEntry)(
      launch.kernel, launch.grid, launch.block, launch.args, launch.sharedBytes, launch.stream);
}

/// Placeholder hooks until the first launch that nothing else has taken over.
int startAndLaunch(void*, const mneme_launch* launch);
constexpr mneme_hooks kStarter{MNEME_RT_ABI, nullptr, startAndLaunch, nullptr};

const mneme_hooks* activeHooks = &kStarter;
int hasStarted = 0;
mneme_graph_hook graphHook = nullptr;

/// False: another thread has started, or does so now.
bool start() {
  if (__atomic_exchange_n(&hasStarted, 1, __ATOMIC_ACQ_REL))
    return false;
  const mneme::DeferredCancellation deferred; // libraries are opened
  const mneme_hooks* tuned = mneme::rt::withDelays(mneme::rt::startTunedKernels());
  const mneme_hooks* expected = &kStarter;
  // Fails when a recorder has come in the meantime.
  __atomic_compare_exchange_n(&activeHooks, &expected, tuned, false, __ATOMIC_ACQ_REL,
                              __ATOMIC_ACQUIRE);
  return true;
}

/// Returns whether another thread has finished starting. The wait is limited because that thread
/// may need the loader's lock, which this one may hold. Only a program with marks relies on its
/// first launches.
bool waitForStart() {
  constexpr unsigned kMostPauses = 2000;
  constexpr timespec kPause{0, 1000000};
  for (unsigned pause = 0; pause < kMostPauses && mneme_jit_is_expected(); ++pause) {
    if (mneme::rt::hooks() != &kStarter)
      return true;
    nanosleep(&kPause, nullptr);
  }
  return false;
}

// CUDA and HIP have the same numbers.
constexpr int kInsufficientDriver = 35, kNoDevice = 100;

int startAndLaunch(void*, const mneme_launch* launch) {
  const bool isFirst = start();
  const int status = isFirst || waitForStart() ? mneme_launch_kernel(launch) : callVendor(*launch);
  if (isFirst && (status == kNoDevice || status == kInsufficientDriver))
    mneme::rt::explainNoDevice(status == kNoDevice);
  return status;
}

} // namespace

namespace mneme::rt {

const mneme_hooks* hooks() { return __atomic_load_n(&activeHooks, __ATOMIC_ACQUIRE); }

void prepareLaunches() {
  if (hooks() == &kStarter)
    start();
}

bool isRecording() {
  const mneme_hooks* active = hooks();
  return active && active != &kStarter && !__atomic_load_n(&hasStarted, __ATOMIC_ACQUIRE);
}

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
  mneme::rt::warnIfRecordingUntuned();
}

void mneme_graph_changed(int status, uint32_t form, uint32_t vendor, void* exec, void* graph) {
  const mneme_graph_hook hook = __atomic_load_n(&graphHook, __ATOMIC_ACQUIRE);
  if (!hook || status != 0 || !exec)
    return;
  void* const handle = form == MNEME_GRAPH_UPDATED ? exec : *static_cast<void**>(exec);
  hook(vendor, handle, graph, form);
}

void mneme_rt_set_graph_hook(mneme_graph_hook hook) {
  __atomic_store_n(&graphHook, hook, __ATOMIC_RELEASE);
}
