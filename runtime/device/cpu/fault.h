// Room device/cpu: signals of device code. Internal.
#pragma once

#include "runtime/device/cpu/launch_state.h"

namespace mneme::device::cpu {

/// Makes sure, before a launch, that the handlers are installed (again, if the host program has
/// replaced them since); signals that are not the device's go to the handlers found before.
void installFaultHandlers();

/// Tells the handlers that the calling thread is `worker` now (null: none). Also gives the thread
/// an alternate signal stack if it has none.
void setCurrentWorker(Worker* worker);

/// Interrupts the device code of `worker` if it runs any and its launch is being stopped.
void interruptWorker(Worker& worker) noexcept;

/// The sentence for a fault caught on `worker`, after the escape.
std::string describeFault(const Worker& worker);

} // namespace mneme::device::cpu
