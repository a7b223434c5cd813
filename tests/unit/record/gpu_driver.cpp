// The fake driver of device_cuda as a program under a recorder needs it: with a primary context
// that is current, pointers that can be asked about, and plain allocations.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <dlfcn.h>

#include "runtime/core/base/hash.h"
#include "runtime/core/base/word_ranges.h"
#include "runtime/devices/bulk/layout.h"

#define cuCtxGetCurrent deviceCtxGetCurrent
#define cuDeviceGetAttribute deviceGetAttribute
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
#define cuModuleGetFunction deviceModuleGetFunction
#define cuCtxSynchronize deviceCtxSynchronize
#define cuStreamQuery deviceStreamQuery
#define cuEventQuery deviceEventQuery
#define cuMemcpyDtoHAsync_v2 deviceMemcpyDtoHAsync
#include "tests/unit/device_cuda/fake_driver.cpp"
#include "tests/unit/device_cuda/fake_queue.cpp"
#include "tests/unit/device_cuda/fake_textures.cpp"
#undef cuCtxGetCurrent
#undef cuDeviceGetAttribute
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
#undef cuModuleGetFunction
#undef cuCtxSynchronize
#undef cuStreamQuery
#undef cuEventQuery
#undef cuMemcpyDtoHAsync_v2

namespace {

/// Whether the program's runtime has kernels that go on.
bool isAtWork() {
  static const auto* const work =
      static_cast<const std::atomic<int>*>(dlsym(RTLD_DEFAULT, "guestWork"));
  return work && *work > 0;
}

/// Where a kernel looks whether it is still wanted that does not get its turn.
std::atomic<const uint64_t*> neverStarted{nullptr};

bool isNeverStarted() {
  const uint64_t* const wanted = neverStarted;
  return wanted && __atomic_load_n(wanted, __ATOMIC_ACQUIRE) != 0;
}

thread_local std::vector<CUcontext> pushed;
std::map<CUcontext, int> preferred; ///< configurations of the cache

CUcontext current() {
  depth = 1; // copies ask for it
  return pushed.empty() ? primaryOf(0) : pushed.back();
}

/// Contexts that the program makes: one that is destroyed gives its handle to the next.
std::array<bool, 4> isMade{};
char handles[isMade.size()], green;

CUcontext handleOf(size_t index) { return reinterpret_cast<CUcontext>(&handles[index]); }
bool isGreen(CUcontext context) { return context == reinterpret_cast<CUcontext>(&green); }

/// Memory that was allocated, which ends with its context.
struct Allocated {
  size_t sizeBytes = 0;
  CUcontext context = nullptr;
};
std::map<CUdeviceptr, Allocated> allocated;

const std::pair<const CUdeviceptr, Allocated>* allocationAt(CUdeviceptr address) {
  const auto next = allocated.upper_bound(address);
  const bool isIn = next != allocated.begin() &&
                    address - std::prev(next)->first < std::prev(next)->second.sizeBytes;
  return isIn ? &*std::prev(next) : nullptr;
}

constexpr uint64_t secondWindow = 0x610000000000, windowBytes = uint64_t{1} << 40;

/// The heap from which kernels allocate: memory that only kernels can read.
constexpr uint64_t heapBegin = 0x205400000, heapBytes = 8 << 20;
bool isHeap(const char* kind) {
  const char* const asked = getenv("MNEME_TEST_HEAP");
  return asked && strcmp(asked, kind) == 0;
}
const bool isHeapMade =
    mmap(pointerTo(heapBegin), heapBytes, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != MAP_FAILED;

} // namespace

FAKE(cuDeviceGetAttribute, int* value, CUdevice_attribute attribute, CUdevice device) {
  if (attribute != CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS)
    return deviceGetAttribute(value, attribute, device);
  return *value = std::getenv("MNEME_TEST_PAGEABLE") != nullptr, CUDA_SUCCESS;
}
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
FAKE(cuCtxSetCurrent, CUcontext context) {
  if (!pushed.empty())
    pushed.pop_back();
  if (context)
    pushed.push_back(context);
  return CUDA_SUCCESS;
}
FAKE(cuCtxCreate_v2, CUcontext* context, unsigned, CUdevice) {
  const auto free = std::ranges::find(isMade, false);
  *free = true;
  *context = handleOf(free - isMade.begin());
  return cuCtxPushCurrent_v2(*context);
}
FAKE(cuCtxDestroy_v2, CUcontext context) {
  const std::lock_guard lock(state().mutex);
  for (size_t index = 0; index < isMade.size(); ++index)
    if (handleOf(index) == context)
      isMade[index] = false;
  std::erase_if(allocated, [&](const auto& one) {
    const bool isGone = one.second.context == context;
    if (isGone)
      munmap(pointerTo(one.first), one.second.sizeBytes); // who reads it now faults
    return isGone;
  });
  preferred.erase(context);
  if (current() == context)
    pushed.pop_back();
  return CUDA_SUCCESS;
}
FAKE(cuCtxFromGreenCtx, CUcontext* context, CUgreenCtx) {
  return *context = reinterpret_cast<CUcontext>(&green), CUDA_SUCCESS;
}
FAKE(cuStreamGetGreenCtx, CUstream stream, CUgreenCtx* context) {
  *context = !stream && isGreen(current()) ? reinterpret_cast<CUgreenCtx>(&green) : nullptr;
  return CUDA_SUCCESS;
}
FAKE(cuGreenCtxGetDevResource, CUgreenCtx, CUdevResource* part, int) {
  return part->smCount = 2, CUDA_SUCCESS;
}
FAKE(cuCtxGetDevResource, CUcontext, CUdevResource* part, int) {
  return part->smCount = 4, CUDA_SUCCESS; // all
}
FAKE(cuCtxSynchronize) {
  while (isAtWork())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return deviceCtxSynchronize();
}
FAKE(cuCtxSetCacheConfig, int config) { return preferred[current()] = config, CUDA_SUCCESS; }
FAKE(cuCtxGetCacheConfig, int* config) { return *config = preferred[current()], CUDA_SUCCESS; }
FAKE(cuKernelSetCacheConfig, CUkernel, int, CUdevice) { return CUDA_SUCCESS; }
FAKE(cuStreamQuery, CUstream stream) {
  return isAtWork() ? CUDA_ERROR_NOT_READY : deviceStreamQuery(stream);
}
FAKE(cuEventQuery, CUevent event) {
  return isAtWork() || isNeverStarted() ? CUDA_ERROR_NOT_READY : deviceEventQuery(event);
}
/// The program's streams are numbers: 16 on the first device, 17 on the second.
FAKE(cuStreamGetCtx, CUstream stream, CUcontext* context) {
  return *context = primaryOf(reinterpret_cast<uintptr_t>(stream) & 1), CUDA_SUCCESS;
}

FAKE(cuPointerGetAttribute, void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_CONTEXT: {
    const std::lock_guard lock(state().mutex);
    const auto* const one = allocationAt(address);
    return *static_cast<CUcontext*>(data) = one ? one->second.context : nullptr, CUDA_SUCCESS;
  }
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

FAKE(cuMemcpyDtoHAsync_v2, void* destination, CUdeviceptr source, size_t size, CUstream stream) {
  if (source - heapBegin < heapBytes)
    return CUDA_ERROR_INVALID_VALUE;
  return deviceMemcpyDtoHAsync(destination, source, size, stream);
}
FAKE(cuMemcpyDtoH_v2, void* destination, CUdeviceptr source, size_t size) {
  memcpy(destination, pointerTo(source), size);
  return CUDA_SUCCESS;
}

FAKE(cuMemAlloc_v2, CUdeviceptr* address, size_t size) {
  const std::lock_guard lock(state().mutex);
  void* const memory =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *address = reinterpret_cast<CUdeviceptr>(memory);
  allocated[*address] = {size, isGreen(current()) ? primaryOf(0) : current()};
  return CUDA_SUCCESS;
}
/// Knows what the driver has mapped or allocated itself.
FAKE(cuMemGetAddressRange_v2, CUdeviceptr* begin, size_t* size, CUdeviceptr address) {
  const std::lock_guard lock(state().mutex);
  if (const auto* const one = allocationAt(address)) {
    *begin = one->first;
    *size = one->second.sizeBytes;
    return CUDA_SUCCESS;
  }
  const auto next = state().mapped.upper_bound(address);
  if (next == state().mapped.begin() || address - std::prev(next)->first >= std::prev(next)->second)
    return CUDA_ERROR_NOT_FOUND;
  *begin = std::prev(next)->first;
  *size = std::prev(next)->second;
  return CUDA_SUCCESS;
}
FAKE(cuMulticastAddDevice, CUmemGenericAllocationHandle, CUdevice) { return CUDA_SUCCESS; }
FAKE(cuMemFree_v2, CUdeviceptr address) {
  const std::lock_guard lock(state().mutex);
  const auto found = allocated.find(address);
  if (found == allocated.end())
    return CUDA_ERROR_INVALID_VALUE;
  munmap(pointerTo(address), found->second.sizeBytes);
  // A kept graph frees while other threads may begin captures.
  static const auto mayEnd =
      reinterpret_cast<bool (*)()>(dlsym(RTLD_DEFAULT, "guestMayEndCaptures"));
  if (getenv("MNEME_GRAPHS") && found->second.sizeBytes == 128 && mayEnd && mayEnd())
    printf("captures of other threads have ended\n");
  return allocated.erase(found), CUDA_SUCCESS;
}

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

/// Kernels of the program have one handle, one after another, and do nothing.
FAKE(cuModuleGetFunction, CUfunction* function, CUmodule module, const char* name) {
  static Function ofProgram{"_Z5otherPfi"};
  if (ofProgram.name != name)
    return deviceModuleGetFunction(function, module, name);
  return *function = reinterpret_cast<CUfunction>(&ofProgram), CUDA_SUCCESS;
}

FAKE(cuLaunchKernel, CUfunction function, unsigned, unsigned, unsigned, unsigned, unsigned,
     unsigned, unsigned, CUstream, void** args, void**) {
  GUARD("cuLaunchKernel");
  const std::string name = reinterpret_cast<Function*>(function)->name;
  if (name.starts_with("_Z"))
    return CUDA_SUCCESS;
  const auto value = [&](int index) { return *static_cast<const uint64_t*>(args[index]); };
  if (name == "mnemeFindHeap") {
    auto* out = static_cast<uint64_t*>(pointerTo(value(2)));
    if (isHeap("never"))
      return neverStarted = out + 2, CUDA_SUCCESS;
    // of a new heap small blocks come from the end, large ones from the begin
    return enqueue([out] {
      out[0] = heapBegin + heapBytes - 0x6e0;
      out[1] = heapBegin + (isHeap("other") ? 0x1020 : isHeap("table") ? 0x120 : 0x20);
      return CUDA_SUCCESS;
    });
  }
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
