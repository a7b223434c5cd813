#include "runtime/devices/gpu/pinned.h"

#include <string>
#include <utility>

namespace mneme::device::gpu {

PinnedBuffer::PinnedBuffer(const Driver& driver, size_t sizeBytes) : driver_(&driver) {
  void* memory = nullptr;
  driver.require(driver.pin(&memory, sizeBytes),
                 "pinning " + std::to_string(sizeBytes) + " bytes of host memory");
  data_ = static_cast<std::byte*>(memory);
  sizeBytes_ = sizeBytes;
}

PinnedBuffer& PinnedBuffer::operator=(PinnedBuffer&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(data_, other.data_);
  std::swap(sizeBytes_, other.sizeBytes_);
  return *this;
}

PinnedBuffer::~PinnedBuffer() {
  if (data_)
    driver_->unpin(data_);
}

Event::Event(const Driver& driver, unsigned flags) : driver_(&driver) {
  driver.require(driver.createEvent(&event_, flags), "making an event");
}

Event& Event::operator=(Event&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(event_, other.event_);
  return *this;
}

Event::~Event() {
  if (event_)
    driver_->destroyEvent(event_);
}

} // namespace mneme::device::gpu
