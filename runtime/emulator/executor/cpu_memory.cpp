#include "runtime/emulator/executor/cpu_memory.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/core/base/error.h"

namespace mneme::device::cpu {

namespace {

constexpr uint64_t hugePageWorthBytes = 8 << 20;

uint64_t roundUp(uint64_t value) noexcept {
  constexpr uint64_t unit = AddressSpace::granularity;
  return (value + unit - 1) / unit * unit;
}

void* pointerAt(uint64_t address) noexcept { return reinterpret_cast<void*>(address); }

std::string rangeText(uint64_t address, uint64_t sizeBytes) {
  char text[80];
  snprintf(text, sizeof text, "%llu bytes at 0x%llx", static_cast<unsigned long long>(sizeBytes),
           static_cast<unsigned long long>(address));
  return text;
}

// Asks the kernel, which answers instead of faulting. Where the call is forbidden nothing is known
// and the access is tried.
bool canRead(uint64_t address) noexcept {
  char byte = 0;
  iovec local{&byte, 1}, remote{pointerAt(address), 1};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1 || errno != EFAULT;
}

} // namespace

void RangeSet::add(uint64_t begin, uint64_t end) {
  auto next = ends_.upper_bound(begin);
  if (next != ends_.begin()) {
    auto before = std::prev(next);
    if (before->second >= begin) {
      begin = before->first;
      end = std::max(end, before->second);
      ends_.erase(before);
    }
  }
  while (next != ends_.end() && next->first <= end) {
    end = std::max(end, next->second);
    next = ends_.erase(next);
  }
  ends_[begin] = end;
}

void RangeSet::remove(uint64_t begin, uint64_t end) {
  auto at = ends_.upper_bound(begin);
  if (at != ends_.begin())
    --at;
  while (at != ends_.end() && at->first < end) {
    const uint64_t first = at->first, last = at->second;
    if (last <= begin) {
      ++at;
      continue;
    }
    at = ends_.erase(at);
    if (first < begin)
      ends_[first] = begin;
    if (last > end)
      at = ends_.emplace(end, last).first;
  }
}

bool RangeSet::contains(uint64_t begin, uint64_t end) const {
  auto at = ends_.upper_bound(begin);
  return at != ends_.begin() && std::prev(at)->second >= end;
}

bool RangeSet::overlaps(uint64_t begin, uint64_t end) const {
  auto at = ends_.lower_bound(begin);
  if (at != ends_.end() && at->first < end)
    return true;
  return at != ends_.begin() && std::prev(at)->second > begin;
}

AddressSpace::~AddressSpace() {
  for (const auto& [begin, size] : reservations_)
    munmap(pointerAt(begin), size);
}

uint64_t AddressSpace::reserve(uint64_t address, uint64_t sizeBytes) {
  const uint64_t size = roundUp(sizeBytes);
  if (sizeBytes == 0 || size < sizeBytes)
    throw Error(ErrorCode::InvalidArgument,
                "cannot reserve " + rangeText(address, sizeBytes) + ": the size is impossible");
  if (address % static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) != 0)
    throw Error(ErrorCode::InvalidArgument, "cannot reserve " + rangeText(address, sizeBytes) +
                                                ": the address is not the start of a page");
  const uint64_t slack = address == 0 ? granularity : 0;
  void* got = mmap(
      pointerAt(address), size + slack, PROT_NONE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (address ? MAP_FIXED_NOREPLACE : 0), -1, 0);
  const int errorNumber = errno;
  auto begin = reinterpret_cast<uint64_t>(got);
  if (got == MAP_FAILED || (address != 0 && begin != address)) {
    if (got != MAP_FAILED)
      munmap(got, size + slack);
    const std::string why = got != MAP_FAILED || errorNumber == EEXIST
                                ? "something else lives there in this process"
                                : systemMessage("the system refused", errorNumber);
    throw Error(ErrorCode::AddressUnavailable, "cannot reserve " + rangeText(address, size) + ": " +
                                                   why + "; try again in a fresh process");
  }
  if (address == 0) {
    const uint64_t aligned = roundUp(begin);
    if (aligned > begin)
      munmap(got, aligned - begin);
    munmap(pointerAt(aligned + size), begin + slack - aligned);
    begin = aligned;
  }
  reservations_[begin] = size;
  reserved_.add(begin, begin + size);
  return begin;
}

void AddressSpace::release(uint64_t address, uint64_t sizeBytes) noexcept {
  const auto found = reservations_.find(address);
  if (found == reservations_.end() || found->second != roundUp(sizeBytes))
    return;
  munmap(pointerAt(address), found->second);
  mapped_.remove(address, address + found->second);
  reserved_.remove(address, address + found->second);
  reservations_.erase(found);
}

void AddressSpace::map(uint64_t address, uint64_t sizeBytes) {
  const uint64_t size = roundUp(sizeBytes);
  if (size == 0 || !reserved_.contains(address, address + size))
    throw Error(ErrorCode::OutOfRange,
                "cannot map " + rangeText(address, size) + ": the range is not reserved");
  void* got = mmap(pointerAt(address), size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (got == MAP_FAILED)
    throw Error(ErrorCode::OutOfMemory,
                systemMessage("cannot map " + rangeText(address, size), errno));
  if (size >= hugePageWorthBytes)
    madvise(got, size, MADV_HUGEPAGE);
  mapped_.add(address, address + size);
}

void AddressSpace::unmap(uint64_t address, uint64_t sizeBytes) noexcept {
  const uint64_t size = roundUp(sizeBytes);
  if (size == 0 || !reserved_.contains(address, address + size))
    return;
  mmap(pointerAt(address), size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE,
       -1, 0);
  mapped_.remove(address, address + size);
}

void AddressSpace::mapGuard(uint64_t address, uint64_t sizeBytes) {
  if (!reserved_.contains(address, address + sizeBytes))
    throw Error(ErrorCode::OutOfRange,
                "cannot guard " + rangeText(address, sizeBytes) + ": the range is not reserved");
  if (!guard_.put(address, sizeBytes, /*isWritable=*/false))
    throw Error(ErrorCode::OutOfMemory,
                "cannot guard " + rangeText(address, sizeBytes) + ": the system refused");
  mapped_.add(address, address + sizeBytes);
}

bool AddressSpace::isAccessible(uint64_t address, uint64_t sizeBytes) const {
  if (sizeBytes == 0)
    return true;
  const uint64_t end = address + sizeBytes;
  if (end < address)
    return false;
  if (mapped_.contains(address, end))
    return true;
  if (reserved_.overlaps(address, end))
    return false;
  return canRead(address) && canRead(end - 1);
}

void AddressSpace::requireAccess(uint64_t address, uint64_t sizeBytes,
                                 const char* operation) const {
  if (!isAccessible(address, sizeBytes))
    throw Error(ErrorCode::DeviceFailed, std::string(operation) + " of " +
                                             rangeText(address, sizeBytes) +
                                             " failed: there is no memory mapped");
}

} // namespace mneme::device::cpu
