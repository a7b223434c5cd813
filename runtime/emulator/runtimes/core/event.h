// Room emulator/runtimes: event handles.
#pragma once

#include "runtime/emulator/runtimes/core/status.h"

namespace mneme::cpu_runtime {

/// Returns true for a live event. Thread-safe.
bool isEvent(void* handle);
/// Records the event as reached now.
Status recordEvent(void* handle);

} // namespace mneme::cpu_runtime
