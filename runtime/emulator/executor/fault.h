// Room emulator/executor: signals of device code. Internal.
#pragma once

#include "runtime/emulator/executor/launch_state.h"

namespace mneme::device::cpu {

/// Installs the handlers before a launch, again if the host program has replaced them. Signals that
/// do not come from device code go to the previous handlers.
void installFaultHandlers();

/// Tells the handlers that the calling thread is now `worker` (null: none). Also gives the thread
/// an alternate signal stack if it has none.
void setCurrentWorker(Worker* worker);

/// Interrupts the device code of `worker` if it runs any and its launch is being stopped.
void interruptWorker(Worker& worker) noexcept;

/// Returns the message for a fault caught on `worker`, after the escape.
std::string describeFault(const Worker& worker);

} // namespace mneme::device::cpu
