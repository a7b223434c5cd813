// Room devices/profile: times of every kernel a program launches on NVIDIA GPUs, through the
// driver's injection mechanism: CUDA_INJECTION64_PATH names this library, the driver loads it and
// calls InitializeInjection() when it starts (CUPTI documentation, "CUPTI Initialization"). Kernels
// of libraries and of programs that were not built with mneme are measured, too.
#include <cstdlib>
#include <cstring>

#include "runtime/core/base/log.h"
#include "runtime/devices/cuda/cupti_library.h"
#include "runtime/devices/cuda/cupti_record.h"
#include "runtime/devices/profile/kernel_times.h"

namespace mneme::profile {

namespace {

using device::cuda::CUcontext;
using device::cuda::CuptiFunctions;
using device::cuda::KernelRecord;

constexpr int kSuccess = 0;
/// CUPTI hands a buffer over when it is full, and at exit: room for some 40,000 records.
constexpr size_t kBufferBytes = size_t{8} << 20;

const CuptiFunctions* cupti = nullptr;
KernelTimes* times = nullptr;

void giveBuffer(uint8_t** buffer, size_t* sizeBytes, size_t* maxRecords) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *sizeBytes = *buffer ? kBufferBytes : 0;
  *maxRecords = 0;
}

void note(const uint8_t* bytes) {
  KernelRecord record;
  std::memcpy(&record.kind, bytes, sizeof(record.kind));
  if (record.kind != device::cuda::kindConcurrentKernel && record.kind != device::cuda::kindKernel)
    return;
  std::memcpy(&record, bytes, sizeof(record));
  if (record.start == 0 || record.end < record.start || !record.name)
    return;
  device::LaunchShape shape;
  for (int axis = 0; axis < 3; ++axis) {
    shape.grid[axis] = static_cast<uint32_t>(record.grid[axis]);
    shape.block[axis] = static_cast<uint32_t>(record.block[axis]);
  }
  shape.dynamicSharedBytes = static_cast<uint64_t>(record.dynamicSharedMemory);
  times->note(record.name, shape, record.end - record.start);
}

void takeBuffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t validBytes) {
  void* record = nullptr;
  while (cupti->activityGetNextRecord(buffer, validBytes, &record) == kSuccess)
    note(static_cast<const uint8_t*>(record));
  std::free(buffer);
}

void fetchTheRest() { cupti->activityFlushAll(device::cuda::flushForced); }

bool start() {
  times = kernelTimes("cupti");
  cupti = times ? device::cuda::cuptiFunctions() : nullptr;
  if (!cupti)
    return false;
  // Exit handlers run in reverse order: the rest comes before the file is written.
  std::atexit(fetchTheRest);
  return cupti->activityRegisterCallbacks(giveBuffer, takeBuffer) == kSuccess &&
         cupti->activityEnable(device::cuda::kindConcurrentKernel) == kSuccess;
}

} // namespace

} // namespace mneme::profile

extern "C" [[gnu::visibility("default")]] int InitializeInjection() {
  try {
    return mneme::profile::start() ? 1 : 0;
  } catch (const std::exception& failure) {
    mneme::notice(std::string("kernels are not measured: ") + failure.what());
    return 0;
  }
}
