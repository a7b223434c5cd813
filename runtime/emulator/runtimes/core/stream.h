// Room emulator/runtimes: stream handles. Almost all work is complete when a call returns (for the
// exceptions see lanes.h), so a stream is just an identity with flags and a priority. Two special
// handles denote the default streams.
#pragma once

namespace mneme::cpu_runtime {

/// Returns true for a live stream and for the default, legacy and per-thread handles. Thread-safe.
bool isStream(void* handle);
/// Returns whether the handle denotes the legacy default stream.
bool isLegacyStream(void* handle) noexcept;
/// Returns a unique address for each stream: null for the legacy default stream, and one per thread
/// for the per-thread default stream.
const void* streamKey(void* handle) noexcept;
/// Returns true for a stream that does not synchronise with the legacy default stream.
bool isNonBlocking(void* handle);

} // namespace mneme::cpu_runtime
