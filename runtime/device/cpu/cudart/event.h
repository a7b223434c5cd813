// Room device/cpu/cudart: event handles.
#pragma once

#include "runtime/device/cpu/cudart/status.h"

namespace mneme::cudart {

/// True for a live event. Thread-safe.
bool isEvent(void* handle);
/// The event is reached now.
Status recordEvent(void* handle);

} // namespace mneme::cudart
