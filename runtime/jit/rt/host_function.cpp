// Calls of host functions that are compiled at run time go through here; libmneme_jit is opened at
// the first one.
#include "runtime/core/abi/mneme_jit_host.h"

#include <time.h>

#include "runtime/core/base/cancellation.h"
#include "runtime/jit/rt/rt_launch.h"

namespace {

using Finder = mneme::rt::HostFunctionFinder;

Finder activeFinder = nullptr;
int hasStarted = 0;

void* findBuilt(mneme_host_function* function, void**) { return function->built; }

// Opening takes milliseconds, unless the loader's lock is held by one of those who wait.
constexpr unsigned kMostPauses = 2000;
constexpr timespec kPause{0, 1000000};

/// One thread opens the library; the others wait a while, then run what was built.
Finder start() {
  if (!__atomic_exchange_n(&hasStarted, 1, __ATOMIC_ACQ_REL)) {
    const mneme::DeferredCancellation deferred; // libraries are opened
    const Finder found = mneme::rt::startHostFunctions();
    __atomic_store_n(&activeFinder, found ? found : findBuilt, __ATOMIC_RELEASE);
  }
  for (unsigned pause = 0; pause < kMostPauses; ++pause) {
    if (const Finder finder = __atomic_load_n(&activeFinder, __ATOMIC_ACQUIRE))
      return finder;
    nanosleep(&kPause, nullptr);
  }
  return findBuilt;
}

} // namespace

void mneme::rt::prepareHostFunctions() {
  if (!__atomic_load_n(&activeFinder, __ATOMIC_ACQUIRE))
    start();
}

void* mneme_jit_host_function(mneme_host_function* function, void** arguments) {
  Finder finder = __atomic_load_n(&activeFinder, __ATOMIC_ACQUIRE);
  if (__builtin_expect(finder == nullptr, 0))
    finder = start();
  return finder(function, arguments);
}
