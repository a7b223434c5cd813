// Room devices/gpu: host memory the GPU reads and writes at full bus speed, and events.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/devices/gpu/gpu_driver.h"

namespace mneme::device::gpu {

/// Pinned host memory. Pinning takes about a millisecond for each few MiB.
class PinnedBuffer {
public:
  PinnedBuffer() = default;
  /// Allocates in the current context. \throws Error{OutOfMemory} and as Driver::raise()
  PinnedBuffer(const Driver& driver, size_t sizeBytes);
  PinnedBuffer(PinnedBuffer&& other) noexcept { *this = std::move(other); }
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept;
  ~PinnedBuffer();
  std::byte* data() const noexcept { return data_; }
  size_t size() const noexcept { return sizeBytes_; }
  /// Leaves the memory to the end of the process: freeing it would wait for a hung kernel.
  void abandon() noexcept { data_ = nullptr; }

private:
  const Driver* driver_ = nullptr;
  std::byte* data_ = nullptr;
  size_t sizeBytes_ = 0;
};

/// An event of the current context.
class Event {
public:
  Event() = default;
  Event(const Driver& driver, unsigned flags);
  Event(Event&& other) noexcept { *this = std::move(other); }
  Event& operator=(Event&& other) noexcept;
  ~Event();
  EventHandle raw() const noexcept { return event_; }

private:
  const Driver* driver_ = nullptr;
  EventHandle event_ = nullptr;
};

} // namespace mneme::device::gpu
