// Room device/cpu/cudart: event handles.
#pragma once

namespace mneme::cudart {

/// True for a live event. Thread-safe.
bool isEvent(void* handle);

} // namespace mneme::cudart
