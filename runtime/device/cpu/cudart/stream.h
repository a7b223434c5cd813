// Room device/cpu/cudart: stream handles. Work is done when a call returns, so a stream is an
// identity with flags and a priority; two null-like handles stand for the default streams.
#pragma once

namespace mneme::cudart {

/// True for a live stream and for the default, legacy and per-thread handles. Thread-safe.
bool isStream(void* handle);

} // namespace mneme::cudart
