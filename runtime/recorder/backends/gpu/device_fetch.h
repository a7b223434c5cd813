// Room recorder: copies of device memory that the host waits for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/devices/gpu/gpu_context.h"
#include "runtime/devices/gpu/pinned.h"
#include "runtime/recorder/backends/gpu/side.h"

namespace mneme::record::gpu {

/// The driver must outlive it, and its context be current in every call. Not thread-safe.
class DeviceFetch {
public:
  DeviceFetch(const Driver& driver, StreamHandle stream) : driver_(driver), stream_(stream) {}

  /// Complete on return. \throws Error
  void read(std::byte* destination, uint64_t source, uint64_t sizeBytes);

private:
  const Driver& driver_;
  StreamHandle stream_;
  device::gpu::PinnedBuffer staging_[2];
  device::gpu::Event staged_[2];
};

} // namespace mneme::record::gpu
