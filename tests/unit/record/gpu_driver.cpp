// The fake driver of device_cuda as a program under a recorder needs it: with a primary context
// that is current, pointers that can be asked about, and plain allocations.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <dlfcn.h>

#include "runtime/core/base/hash.h"
#include "runtime/core/base/word_ranges.h"
#include "runtime/devices/bulk/layout.h"

#define cuCtxGetCurrent deviceCtxGetCurrent
#define cuCtxGetDevice deviceCtxGetDevice
#define cuStreamGetCtx deviceStreamGetCtx
#define cuPointerGetAttribute devicePointerGetAttribute
#define cuMemcpyDtoH_v2 deviceMemcpyDtoH
#define cuCtxPushCurrent_v2 deviceCtxPushCurrent
#define cuCtxPopCurrent_v2 deviceCtxPopCurrent
#define cuMemAlloc_v2 deviceMemAlloc
#define cuMemFree_v2 deviceMemFree
#define cuMemGetAddressRange_v2 deviceMemGetAddressRange
#define cuLaunchKernel deviceLaunchKernel
#define cuCtxSynchronize deviceCtxSynchronize
#define cuStreamQuery deviceStreamQuery
#define cuEventQuery deviceEventQuery
#include "tests/unit/device_cuda/fake_driver.cpp"
#include "tests/unit/device_cuda/fake_queue.cpp"
#undef cuCtxGetCurrent
#undef cuCtxGetDevice
#undef cuStreamGetCtx
#undef cuPointerGetAttribute
#undef cuMemcpyDtoH_v2
#undef cuCtxPushCurrent_v2
#undef cuCtxPopCurrent_v2
#undef cuMemAlloc_v2
#undef cuMemFree_v2
#undef cuMemGetAddressRange_v2
#undef cuLaunchKernel
#undef cuCtxSynchronize
#undef cuStreamQuery
#undef cuEventQuery

namespace {

/// Whether the program's runtime has kernels that go on.
bool isAtWork() {
  static const auto* const work =
      static_cast<const std::atomic<int>*>(dlsym(RTLD_DEFAULT, "guestWork"));
  return work && *work > 0;
}

thread_local std::vector<CUcontext> pushed;

CUcontext current() {
  depth = 1; // copies ask for it
  return pushed.empty() ? primaryOf(0) : pushed.back();
}

constexpr uint64_t secondWindow = 0x610000000000, windowBytes = uint64_t{1} << 40;

} // namespace

FAKE(cuCtxGetCurrent, CUcontext* context) { return *context = current(), CUDA_SUCCESS; }
FAKE(cuCtxGetDevice, CUdevice* device) {
  return *device = current() == primaryOf(1) ? 1 : 0, CUDA_SUCCESS;
}
FAKE(cuCtxPushCurrent_v2, CUcontext context) {
  return depth = 1, pushed.push_back(context), CUDA_SUCCESS;
}
FAKE(cuCtxPopCurrent_v2, CUcontext* context) {
  *context = current();
  if (!pushed.empty())
    pushed.pop_back();
  return CUDA_SUCCESS;
}
FAKE(cuCtxSynchronize) {
  while (isAtWork())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return deviceCtxSynchronize();
}
FAKE(cuStreamQuery, CUstream stream) {
  return isAtWork() ? CUDA_ERROR_NOT_READY : deviceStreamQuery(stream);
}
FAKE(cuEventQuery, CUevent event) {
  return isAtWork() ? CUDA_ERROR_NOT_READY : deviceEventQuery(event);
}
/// The program's streams are numbers: 16 on the first device, 17 on the second.
FAKE(cuStreamGetCtx, CUstream stream, CUcontext* context) {
  return *context = primaryOf(reinterpret_cast<uintptr_t>(stream) & 1), CUDA_SUCCESS;
}

FAKE(cuPointerGetAttribute, void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    return *static_cast<unsigned*>(data) = CU_MEMORYTYPE_DEVICE, CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    return *static_cast<int*>(data) = address - secondWindow < windowBytes ? 1 : 0, CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    return *static_cast<CUdeviceptr*>(data) = address, CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    return *static_cast<size_t*>(data) = size_t{1} << 40, CUDA_SUCCESS;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}

FAKE(cuMemcpyDtoH_v2, void* destination, CUdeviceptr source, size_t size) {
  memcpy(destination, pointerTo(source), size);
  return CUDA_SUCCESS;
}

FAKE(cuMemAlloc_v2, CUdeviceptr* address, size_t size) {
  *address = reinterpret_cast<CUdeviceptr>(malloc(size));
  return CUDA_SUCCESS;
}
/// Knows mapped memory alone.
FAKE(cuMemGetAddressRange_v2, CUdeviceptr* begin, size_t* size, CUdeviceptr address) {
  const std::lock_guard lock(state().mutex);
  const auto next = state().mapped.upper_bound(address);
  if (next == state().mapped.begin() || address - std::prev(next)->first >= std::prev(next)->second)
    return CUDA_ERROR_NOT_FOUND;
  *begin = std::prev(next)->first;
  *size = std::prev(next)->second;
  return CUDA_SUCCESS;
}
FAKE(cuMulticastAddDevice, CUmemGenericAllocationHandle, CUdevice) { return CUDA_SUCCESS; }
FAKE(cuMemFree_v2, CUdeviceptr address) { return free(pointerTo(address)), CUDA_SUCCESS; }

namespace {

using mneme::device::bulk::Range;

void hashPages(const Range* ranges, uint64_t count, uint64_t pageBytes, mneme::Hash128* hashes) {
  for (uint64_t index = 0; index < count; ++index)
    for (uint64_t at = 0; at < ranges[index].sizeBytes; at += pageBytes)
      hashes[ranges[index].firstUnit + at / pageBytes] =
          mneme::hash128({static_cast<const std::byte*>(pointerTo(ranges[index].first + at)),
                          std::min(pageBytes, ranges[index].sizeBytes - at)});
}

void copyRanges(const Range* ranges, uint64_t count) {
  for (uint64_t index = 0; index < count; ++index)
    memcpy(pointerTo(ranges[index].first), pointerTo(ranges[index].second),
           ranges[index].sizeBytes);
}

void searchPages(const Range* ranges, uint64_t count, uint64_t pageBytes,
                 const mneme::WordRanges& targets, uint8_t* holdsAddress, uint8_t* isReached) {
  for (uint64_t index = 0; index < count; ++index)
    for (uint64_t at = 0; at < ranges[index].sizeBytes; at += pageBytes)
      targets.visit({static_cast<const std::byte*>(pointerTo(ranges[index].first + at)),
                     std::min(pageBytes, ranges[index].sizeBytes - at)},
                    ranges[index].first + at, [&](size_t, uint64_t, size_t target) {
                      holdsAddress[ranges[index].firstUnit + at / pageBytes] = 1;
                      isReached[target] = 1;
                    });
}

} // namespace

FAKE(cuLaunchKernel, CUfunction function, unsigned, unsigned, unsigned, unsigned, unsigned,
     unsigned, unsigned, CUstream, void** args, void**) {
  GUARD("cuLaunchKernel");
  const std::string name = reinterpret_cast<Function*>(function)->name;
  const auto value = [&](int index) { return *static_cast<const uint64_t*>(args[index]); };
  const auto* ranges = static_cast<const Range*>(pointerTo(value(0)));
  const uint64_t count = value(1), third = value(3);
  if (name == "mnemeCopyRanges")
    return enqueue([=] { return copyRanges(ranges, count), CUDA_SUCCESS; });
  if (name == "mnemeSearchPages") {
    const auto* targets = static_cast<const mneme::AddressRange*>(pointerTo(value(4)));
    return enqueue([=, targetCount = value(5), pages = value(6), reached = value(7)] {
      return searchPages(ranges, count, third, mneme::WordRanges({targets, targets + targetCount}),
                         static_cast<uint8_t*>(pointerTo(pages)),
                         static_cast<uint8_t*>(pointerTo(reached))),
             CUDA_SUCCESS;
    });
  }
  if (!name.starts_with("mnemeHash"))
    return CUDA_ERROR_NOT_FOUND;
  auto* hashes = static_cast<mneme::Hash128*>(pointerTo(value(4)));
  return enqueue([=] { return hashPages(ranges, count, third, hashes), CUDA_SUCCESS; });
}
