// A call of the runtime that has done its work when it returns.
#pragma once

#include "runtime/cpu_runtime/core/graph_capture.h"
#include "runtime/cpu_runtime/core/lanes.h"
#include "runtime/cpu_runtime/core/status.h"

namespace mneme::cpu_runtime {

/// Does `body` as part of the legacy default stream, unless a capture forbids that.
template <typename Body> Status atOnce(const Body& body) {
  if (isAnyBusy() && !isAnyCapturing())
    waitForLegacyStream();
  return synchronising([&] {
    Status bad = mayUseLegacyStream();
    if (bad == Status::Success)
      bad = mayCallUnsafe(); // it waits
    return bad == Status::Success ? body() : bad;
  });
}

} // namespace mneme::cpu_runtime
