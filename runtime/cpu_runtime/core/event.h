// Room cpu_runtime: event handles.
#pragma once

#include "runtime/cpu_runtime/core/status.h"

namespace mneme::cpu_runtime {

/// True for a live event. Thread-safe.
bool isEvent(void* handle);
/// The event is reached now.
Status recordEvent(void* handle);

} // namespace mneme::cpu_runtime
