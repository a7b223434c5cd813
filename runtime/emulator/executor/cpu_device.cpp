#include "runtime/emulator/executor/cpu_device.h"

#include <algorithm>

#include <unistd.h>

#include "runtime/core/base/error.h"
#include "runtime/emulator/executor/bulk.h"
#include "runtime/emulator/executor/cpu_description.h"
#include "runtime/emulator/executor/cpu_module.h"
#include "runtime/emulator/executor/device_heap.h"
#include "runtime/emulator/executor/executor.h"

namespace mneme::device::cpu {

namespace {

void checkPages(uint64_t pageBytes) {
  if (pageBytes == 0)
    throw Error(ErrorCode::InvalidArgument, "pages of 0 bytes cannot be compared or hashed");
}

} // namespace

const Description& CpuDevice::description() const { return cpuDescription(); }

uint64_t CpuDevice::reserve(uint64_t address, uint64_t sizeBytes) {
  return space_.reserve(address, sizeBytes);
}

void CpuDevice::release(uint64_t address, uint64_t sizeBytes) noexcept {
  space_.release(address, sizeBytes);
}

void CpuDevice::map(uint64_t address, uint64_t sizeBytes) { space_.map(address, sizeBytes); }

void CpuDevice::unmap(uint64_t address, uint64_t sizeBytes) noexcept {
  space_.unmap(address, sizeBytes);
}

void CpuDevice::mapGuard(uint64_t address, uint64_t sizeBytes) {
  space_.mapGuard(address, sizeBytes);
}

void CpuDevice::copyToHost(void* destination, uint64_t source, size_t sizeBytes) {
  space_.requireAccess(source, sizeBytes, "a copy to the host");
  const CopyRange range{reinterpret_cast<uint64_t>(destination), source, sizeBytes};
  bulkCopy({&range, 1});
}

void CpuDevice::copyToDevice(uint64_t destination, const void* source, size_t sizeBytes) {
  space_.requireAccess(destination, sizeBytes, "a copy to the device");
  const CopyRange range{destination, reinterpret_cast<uint64_t>(source), sizeBytes};
  bulkCopy({&range, 1});
}

void CpuDevice::hashPages(uint64_t address, uint64_t sizeBytes, uint64_t pageBytes,
                          std::span<Hash128> hashes) {
  checkPages(pageBytes);
  if (hashes.size() < (sizeBytes + pageBytes - 1) / pageBytes)
    throw Error(ErrorCode::InvalidArgument,
                "there is room for " + std::to_string(hashes.size()) + " hashes, not for " +
                    std::to_string((sizeBytes + pageBytes - 1) / pageBytes));
  space_.requireAccess(address, sizeBytes, "the hashing");
  bulkHash(address, sizeBytes, pageBytes, hashes);
}

std::vector<uint64_t> CpuDevice::diffPages(uint64_t first, uint64_t second, uint64_t sizeBytes,
                                           uint64_t pageBytes) {
  checkPages(pageBytes);
  space_.requireAccess(first, sizeBytes, "the comparison");
  space_.requireAccess(second, sizeBytes, "the comparison");
  return bulkDiff(first, second, sizeBytes, pageBytes);
}

void CpuDevice::resetHeap() { heapReset(); }

void CpuDevice::restore(std::span<const CopyRange> ranges) {
  for (const CopyRange& range : ranges) {
    space_.requireAccess(range.source, range.sizeBytes, "the restoration");
    space_.requireAccess(range.destination, range.sizeBytes, "the restoration");
  }
  bulkCopy(ranges);
}

std::vector<CompareReport> CpuDevice::compare(std::span<const CompareRequest> requests) {
  for (const CompareRequest& request : requests) {
    space_.requireAccess(request.actual, request.sizeBytes, "the verification");
    space_.requireAccess(request.expected, request.sizeBytes, "the verification");
  }
  return bulkCompare(requests);
}

std::unique_ptr<Module> CpuDevice::load(std::span<const std::byte> image, const std::string&,
                                        std::span<const GlobalPlacement> placements) {
  return std::make_unique<CpuModule>(space_, image, placements);
}

uint64_t CpuDevice::launch(Module& module, const LaunchShape& shape, void* const* args,
                           double timeoutSeconds) {
  const LaunchOutcome outcome =
      run(static_cast<CpuModule&>(module).image(), shape, args, timeoutSeconds);
  if (outcome.fault == FaultKind::OutOfMemory)
    throw Error(ErrorCode::OutOfMemory, outcome.message);
  if (outcome.fault != FaultKind::None)
    throw Error(ErrorCode::DeviceFailed, outcome.message);
  return outcome.elapsedNs;
}

std::optional<uint64_t> CpuDevice::memoryLeft() {
  const long pages = sysconf(_SC_AVPHYS_PAGES), pageBytes = sysconf(_SC_PAGESIZE);
  if (pages < 0 || pageBytes < 0)
    return std::nullopt;
  return static_cast<uint64_t>(pages) * static_cast<uint64_t>(pageBytes);
}

void CpuDevice::flushCaches() {
  const uint64_t bytes = std::max<uint64_t>(2 * description().l2CacheBytes, 64 << 20);
  evictor_.resize(bytes / sizeof(uint64_t));
  for (uint64_t& word : evictor_)
    ++word;
}

} // namespace mneme::device::cpu
