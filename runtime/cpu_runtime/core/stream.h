// Room cpu_runtime: stream handles. Nearly all work is done when a call returns (lanes.h has
// the rest), so a stream is an identity with flags and a priority; two null-like handles stand for
// the default streams.
#pragma once

namespace mneme::cpu_runtime {

/// True for a live stream and for the default, legacy and per-thread handles. Thread-safe.
bool isStream(void* handle);
/// Whether this names the legacy default stream.
bool isLegacyStream(void* handle) noexcept;
/// One address for each stream: null for the legacy default stream, another in every thread for the
/// per-thread one.
const void* streamKey(void* handle) noexcept;
/// True for a stream that does not wait for the legacy default stream, nor it for this one.
bool isNonBlocking(void* handle);

} // namespace mneme::cpu_runtime
