#include "runtime/devices/gpu/address_space.h"

#include <algorithm>
#include <iterator>

#include "runtime/core/base/error.h"
#include "runtime/core/base/guard_page.h"
#include "runtime/core/base/hash.h"
#include "runtime/core/base/log.h"

namespace mneme::device::gpu {

namespace {

std::string rangeText(uint64_t address, uint64_t sizeBytes) {
  return std::to_string(sizeBytes) + " bytes at 0x" + toHex(address);
}

std::string sizeText(uint64_t sizeBytes) {
  return sizeBytes < 1 << 20 ? std::to_string(sizeBytes >> 10) + " KiB"
                             : std::to_string(sizeBytes >> 20) + " MiB";
}

} // namespace

AddressSpace::AddressSpace(Context& context) : context_(context), blocks_(context.shared()) {
  const ContextScope scope = context_.use();
  size_t granularity = 0;
  context_.check(context_.shared().memoryGranularity(&granularity, context_.device()),
                 "asking for the GPU's page size");
  granularity_ = granularity;
}

AddressSpace::~AddressSpace() {
  while (!reserved_.empty()) {
    const uint64_t address = reserved_.begin()->first;
    release(address, reserved_.begin()->second.sizeBytes);
  }
  if (guard_ != 0 && !context_.isHung())
    context_.shared().releaseMemory(guard_);
}

uint64_t AddressSpace::guardPageBytes() const noexcept {
  return context_.shared().mapsManyTimes() ? std::max(granularity_, kGuardPageBytes) : 0;
}

Status AddressSpace::mapGuardPage(uint64_t address) {
  const Driver& driver = context_.shared();
  const uint64_t size = guardPageBytes();
  if (const Status status = driver.mapMemory(address, size, guard_); status != kSuccess)
    return status;
  Status status = kSuccess;
  if (!isGuardZero_) {
    status = driver.allowAccess(address, size, context_.device());
    if (status == kSuccess)
      status = driver.fill(address, 0, size, context_.stream());
    if (status == kSuccess)
      status = driver.waitForStream(context_.stream());
    isGuardZero_ = status == kSuccess;
  }
  if (status == kSuccess)
    status = driver.allowReading(address, size, context_.device());
  if (status != kSuccess)
    driver.unmapMemory(address, size);
  return status;
}

void AddressSpace::mapGuard(uint64_t address, uint64_t sizeBytes) {
  context_.requireUsable();
  const ContextScope scope = context_.use();
  if (guard_ == 0)
    guard_ = create(guardPageBytes());
  for (uint64_t done = 0; done < sizeBytes; done += guardPageBytes()) {
    const Status status = mapGuardPage(address + done);
    if (status == kSuccess) {
      mapped_[address + done] = guardPageBytes();
      continue;
    }
    if (done > 0)
      unmap(address, done);
    context_.check(status, "guarding " + rangeText(address + done, guardPageBytes()));
  }
}

uint64_t AddressSpace::roundUp(uint64_t sizeBytes) const {
  if (sizeBytes == 0 || sizeBytes > UINT64_MAX / 2)
    throw Error(ErrorCode::InvalidArgument,
                "a range of " + std::to_string(sizeBytes) + " bytes cannot be reserved or mapped");
  return (sizeBytes + granularity_ - 1) / granularity_ * granularity_;
}

bool AddressSpace::isReserved(uint64_t address, uint64_t sizeBytes) const {
  const auto next = reserved_.lower_bound(address);
  if (next != reserved_.end() && next->first < address + sizeBytes)
    return true;
  if (next == reserved_.begin())
    return false;
  const auto before = std::prev(next);
  return before->first + before->second.sizeBytes > address;
}

uint64_t AddressSpace::reserve(uint64_t address, uint64_t sizeBytes) {
  const uint64_t size = roundUp(sizeBytes);
  if (address % granularity_ != 0)
    throw Error(ErrorCode::AddressUnavailable,
                rangeText(address, size) +
                    " cannot be reserved on this GPU: its pages start at "
                    "multiples of " +
                    std::to_string(granularity_));
  context_.requireUsable();
  const ContextScope scope = context_.use();
  if (address != 0) {
    if (isReserved(address, size) || !blocks_.take(address, size))
      throw Error(ErrorCode::AddressUnavailable,
                  rangeText(address, size) + " are taken in this process");
    reserved_[address] = {size, true};
    return address;
  }
  uint64_t granted = 0;
  const Status result = context_.shared().reserveAddresses(&granted, size, 0);
  if (result != kSuccess) {
    context_.probe();
    throw Error(ErrorCode::OutOfMemory,
                "cannot reserve " + std::to_string(size) +
                    " bytes of addresses: " + context_.shared().textOf(result));
  }
  reserved_[granted] = {size, false};
  return granted;
}

void AddressSpace::release(uint64_t address, uint64_t) noexcept {
  const auto found = reserved_.find(address);
  if (found == reserved_.end())
    return;
  const Reserved reserved = found->second;
  unmap(address, reserved.sizeBytes);
  if (!context_.isHung()) {
    try {
      const ContextScope scope = context_.use();
      if (reserved.isShared)
        blocks_.give(address, reserved.sizeBytes);
      else
        context_.shared().freeAddresses(address, reserved.sizeBytes);
    } catch (const std::exception& failure) {
      log(LogLevel::Warn, failure.what());
    }
  }
  reserved_.erase(found);
}

MemoryHandle AddressSpace::create(uint64_t sizeBytes) {
  const Driver& driver = context_.shared();
  MemoryHandle handle = 0;
  const Status result =
      driver.createMemory(&handle, context_.device(), sizeBytes, /*isForNetworks=*/true);
  if (result == kOutOfMemory) {
    size_t free = 0, total = 0;
    driver.memoryLeft(&free, &total);
    throw Error(ErrorCode::OutOfMemory,
                "the GPU has no " + sizeText(sizeBytes) + " of memory left: " + sizeText(free) +
                    " of " + sizeText(total) + " are free; " + driver.textOf(result));
  }
  context_.check(result, "allocating " + sizeText(sizeBytes) + " on the GPU");
  return handle;
}

void AddressSpace::map(uint64_t address, uint64_t sizeBytes) {
  context_.requireUsable();
  const ContextScope scope = context_.use();
  const auto parts = partsOf(address, roundUp(sizeBytes));
  size_t done = 0;
  try {
    for (; done < parts.size(); ++done)
      mapPart(parts[done].first, parts[done].second);
  } catch (...) {
    while (done-- > 0)
      unmap(parts[done].first, parts[done].second);
    throw;
  }
}

/// What is mapped at once.
std::vector<std::pair<uint64_t, uint64_t>> AddressSpace::partsOf(uint64_t address,
                                                                 uint64_t sizeBytes) const {
  const uint64_t most = context_.shared().mappingBytes();
  std::vector<std::pair<uint64_t, uint64_t>> parts;
  for (const auto& [start, bytes] : blocks_.parts(address, sizeBytes))
    for (uint64_t done = 0; done < bytes; done += parts.back().second)
      parts.emplace_back(start + done, std::min(most, bytes - done));
  return parts;
}

void AddressSpace::mapPart(uint64_t address, uint64_t size) {
  const Driver& driver = context_.shared();
  const MemoryHandle handle = create(size);
  const Status mapped = driver.mapMemory(address, size, handle);
  driver.releaseMemory(handle); // the mapping keeps the memory
  context_.check(mapped, "mapping " + rangeText(address, size));
  Status result = driver.allowAccess(address, size, context_.device());
  if (result == kSuccess)
    result = driver.fill(address, 0, size, context_.stream());
  if (result != kSuccess)
    driver.unmapMemory(address, size);
  context_.check(result, "making " + rangeText(address, size) + " accessible");
  mapped_[address] = size;
}

void AddressSpace::unmap(uint64_t address, uint64_t sizeBytes) noexcept {
  // A caller that gives back what it mapped gives the size it asked for, not the rounded one.
  const uint64_t end = address + (sizeBytes + granularity_ - 1) / granularity_ * granularity_;
  auto run = mapped_.lower_bound(address);
  if (run == mapped_.end() || run->first + run->second > end)
    return;
  if (context_.isHung())
    return;
  try {
    const ContextScope scope = context_.use();
    // Memory must be quiet before it goes: what we started may still use it.
    context_.shared().waitForStream(context_.stream());
    while (run != mapped_.end() && run->first + run->second <= end) {
      const Status result = context_.shared().unmapMemory(run->first, run->second);
      if (result != kSuccess && context_.isUsable())
        log(LogLevel::Warn, "cannot unmap " + rangeText(run->first, run->second) + ": " +
                                context_.shared().textOf(result));
      run = mapped_.erase(run);
    }
  } catch (const std::exception& failure) {
    log(LogLevel::Warn, failure.what());
  }
}

void AddressSpace::requireAccess(uint64_t address, uint64_t sizeBytes, const char* what) const {
  const uint64_t end = address + sizeBytes;
  auto reservation = reserved_.upper_bound(address);
  if (reservation != reserved_.begin())
    --reservation;
  if (sizeBytes == 0 || reservation == reserved_.end() || reservation->first >= end ||
      reservation->first + reservation->second.sizeBytes <= address)
    return;
  auto run = mapped_.upper_bound(address);
  if (run != mapped_.begin())
    --run;
  uint64_t covered = address;
  for (; run != mapped_.end() && run->first <= covered && covered < end; ++run)
    covered = std::max(covered, run->first + run->second);
  if (covered < end)
    throw Error(ErrorCode::OutOfRange, std::string(what) + " of " + rangeText(address, sizeBytes) +
                                           " reaches memory that is not mapped");
}

} // namespace mneme::device::gpu
