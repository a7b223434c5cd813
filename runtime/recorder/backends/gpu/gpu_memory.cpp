#include <algorithm>
#include <string>

#include "runtime/core/base/guard_page.h"
#include "runtime/core/base/log.h"
#include "runtime/devices/gpu/address_blocks.h"
#include "runtime/recorder/backends/gpu/side.h"

namespace mneme::record::gpu {
namespace {

using device::gpu::kOutOfMemory;
using device::gpu::kSuccess;
using device::gpu::MemoryHandle;
using device::gpu::Status;

class GpuMemory final : public MemoryBackend {
public:
  GpuMemory(const Side& side, uint64_t granularity)
      : side_(side), granularity_(granularity), blocks_(side.driver()) {}

  ~GpuMemory() override {
    const KeepsLastError keeps = side_.vendor->keepLastError();
    if (guard_ != 0)
      side_.driver().releaseMemory(guard_);
  }

  uint64_t granularity() const override { return granularity_; }

  bool reserve(uint64_t address, uint64_t sizeBytes) override {
    const KeepsLastError keeps = side_.vendor->keepLastError();
    return blocks_.take(address, sizeBytes);
  }

  void release(uint64_t address, uint64_t sizeBytes) noexcept override {
    const KeepsLastError keeps = side_.vendor->keepLastError();
    blocks_.give(address, sizeBytes);
  }

  bool map(uint64_t address, uint64_t sizeBytes) override {
    const KeepsLastError keeps = side_.vendor->keepLastError();
    for (uint64_t done = 0; done < sizeBytes; done += part(sizeBytes - done))
      if (!mapPart(address + done, part(sizeBytes - done))) {
        if (done > 0)
          unmap(address, done);
        return false;
      }
    return true;
  }

  void unmap(uint64_t address, uint64_t sizeBytes) noexcept override {
    const KeepsLastError keeps = side_.vendor->keepLastError();
    for (uint64_t done = 0; done < sizeBytes; done += part(sizeBytes - done))
      if (const Status status = side_.driver().unmapMemory(address + done, part(sizeBytes - done));
          status != kSuccess)
        refuse("unmapping device memory", status);
  }

  bool share(uint64_t address, uint64_t sizeBytes, unsigned device) override {
    const KeepsLastError keeps = side_.vendor->keepLastError();
    const int peer = side_.vendor->peerOf(side_.device, device);
    bool isShared = peer >= 0;
    for (uint64_t done = 0; isShared && done < sizeBytes; done += part(sizeBytes - done))
      isShared =
          side_.driver().allowAccess(address + done, part(sizeBytes - done), peer) == kSuccess;
    return isShared;
  }

  /// A page of the device where one can be at many places: not with AMD's runtime, whose devices
  /// fault close to every allocation anyway.
  uint64_t guardPageBytes() const override {
    return side_.driver().mapsManyTimes() ? std::max(granularity_, kGuardPageBytes) : 0;
  }

  bool mapGuard(uint64_t address, uint64_t sizeBytes) override {
    const KeepsLastError keeps = side_.vendor->keepLastError();
    const Driver& driver = side_.driver();
    if (guard_ == 0 &&
        driver.createMemory(&guard_, side_.device, guardPageBytes(), true) != kSuccess) {
      guard_ = 0;
      return false;
    }
    uint64_t done = 0;
    while (done < sizeBytes && mapGuardPage(address + done))
      done += guardPageBytes();
    if (done < sizeBytes)
      unmapGuard(address, done);
    return done == sizeBytes;
  }

  void unmapGuard(uint64_t address, uint64_t sizeBytes) noexcept override {
    const KeepsLastError keeps = side_.vendor->keepLastError();
    for (uint64_t done = 0; done < sizeBytes; done += guardPageBytes())
      side_.driver().unmapMemory(address + done, guardPageBytes());
  }

private:
  bool mapGuardPage(uint64_t address) {
    const Driver& driver = side_.driver();
    if (driver.mapMemory(address, guardPageBytes(), guard_) != kSuccess)
      return false;
    const bool isAccessible =
        driver.allowAccess(address, guardPageBytes(), side_.device) == kSuccess;
    if (!isAccessible)
      driver.unmapMemory(address, guardPageBytes());
    return isAccessible;
  }

  /// How much of what is left is mapped at once.
  uint64_t part(uint64_t bytesLeft) const noexcept {
    return std::min(bytesLeft, side_.driver().mappingBytes());
  }

  bool mapPart(uint64_t address, uint64_t sizeBytes) {
    const Driver& driver = side_.driver();
    MemoryHandle memory = 0;
    // As the vendor's own allocations: network cards may read it.
    if (const Status made = driver.createMemory(&memory, side_.device, sizeBytes, true);
        made != kSuccess)
      return made == kOutOfMemory ? false : refuse("allocating device memory", made);
    const Status mapped = driver.mapMemory(address, sizeBytes, memory);
    driver.releaseMemory(memory); // the mapping keeps the memory
    if (mapped != kSuccess)
      return refuse("mapping device memory", mapped);
    if (const Status status = driver.allowAccess(address, sizeBytes, side_.device);
        status != kSuccess) {
      driver.unmapMemory(address, sizeBytes);
      return refuse("making device memory accessible", status);
    }
    return true;
  }

  bool refuse(const char* what, Status status) const noexcept {
    try {
      log(LogLevel::Warn,
          std::string(what) + " at a chosen address failed: " + side_.driver().textOf(status));
    } catch (const std::exception&) { // no memory for a log line: the application matters more
    }
    return false;
  }

  Side side_;
  uint64_t granularity_;
  device::gpu::AddressBlocks blocks_;
  MemoryHandle guard_ = 0;
};

} // namespace

std::unique_ptr<MemoryBackend> makeMemory(const Side& side) {
  size_t granularity = 0;
  if (!side.vendor || !side.vendor->canPlace(side.device))
    return nullptr;
  const KeepsLastError keeps = side.vendor->keepLastError();
  if (side.driver().memoryGranularity(&granularity, side.device) != kSuccess || granularity == 0)
    return nullptr;
  return std::make_unique<GpuMemory>(side, granularity);
}

} // namespace mneme::record::gpu
