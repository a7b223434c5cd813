// Room emulator/runtimes: calls whose work is complete when they return.
#pragma once

#include "runtime/emulator/runtimes/core/graph_capture.h"
#include "runtime/emulator/runtimes/core/lanes.h"
#include "runtime/emulator/runtimes/core/status.h"

namespace mneme::cpu_runtime {

/// Runs `body` as part of the legacy default stream, unless a capture forbids that.
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
