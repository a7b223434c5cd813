#include "runtime/devices/cuda/cupti.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "runtime/core/base/log.h"
#include "runtime/devices/cuda/cupti_library.h"
#include "runtime/devices/cuda/cupti_record.h"

namespace mneme::device::cuda {

namespace {

constexpr int success = 0;
/// A thread of CUPTI's own may hold the record for a moment.
constexpr int attempts = 5;
/// CUPTI clears each buffer and hands it over with every flush: room for some 150 records is
/// plenty.
constexpr size_t bufferBytes = 32 << 10;

/// Set once, before callbacks can come; never freed, because CUPTI has threads of its own.
Cupti* instance = nullptr;

} // namespace

Cupti::Cupti(const CuptiFunctions& functions) : functions_(functions) {}

std::unique_ptr<Cupti> Cupti::start() {
  const CuptiFunctions* functions = cuptiFunctions();
  if (!functions)
    return nullptr;
  std::unique_ptr<Cupti> cupti(new Cupti(*functions));
  instance = cupti.get();
  int result = functions->activityRegisterCallbacks(giveBuffer, takeBuffer);
  if (result == success)
    result = functions->activityEnable(kindConcurrentKernel);
  if (result == success)
    return cupti;
  const char* text = nullptr;
  if (functions->getResultString(result, &text) != success || !text)
    text = "unknown error";
  log(LogLevel::Info, std::string("kernel times come from events, CUPTI does not start: ") + text);
  cupti.release(); // a callback may still know it
  return nullptr;
}

Cupti* Cupti::find() noexcept {
  static Cupti* const started = []() noexcept -> Cupti* {
    try {
      return start().release();
    } catch (const std::exception& failure) {
      log(LogLevel::Info, std::string("kernel times come from events: ") + failure.what());
      return nullptr;
    }
  }();
  return started;
}

void Cupti::giveBuffer(uint8_t** buffer, size_t* sizeBytes, size_t* maxRecords) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, bufferBytes));
  *sizeBytes = *buffer ? bufferBytes : 0;
  *maxRecords = 0;
}

void Cupti::takeBuffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t validBytes) {
  const std::lock_guard lock(instance->mutex_);
  void* record = nullptr;
  while (instance->functions_.activityGetNextRecord(buffer, validBytes, &record) == success)
    instance->note(static_cast<const uint8_t*>(record));
  std::free(buffer);
}

void Cupti::note(const uint8_t* bytes) {
  KernelRecord record;
  std::memcpy(&record.kind, bytes, sizeof(record.kind));
  if (record.kind != kindConcurrentKernel && record.kind != kindKernel)
    return;
  std::memcpy(&record, bytes, sizeof(record));
  if (record.deviceId >= maxDevices || record.start == 0 || record.end < record.start)
    return;
  Kernel& newest = newest_[record.deviceId];
  const auto age = static_cast<int32_t>(record.correlationId - newest.correlation);
  if (newest.endNs != 0 && age <= 0)
    return;
  newest.startNs = record.start;
  newest.endNs = record.end;
  newest.correlation = record.correlationId;
  std::memcpy(newest.grid, record.grid, sizeof(newest.grid));
  std::memcpy(newest.block, record.block, sizeof(newest.block));
  newest.isNew = true;
}

std::optional<uint64_t> Cupti::take(CUdevice device, const LaunchShape& shape) {
  const std::lock_guard lock(mutex_);
  if (device < 0 || static_cast<uint32_t>(device) >= maxDevices)
    return std::nullopt;
  Kernel& newest = newest_[device];
  bool isSame = newest.isNew;
  for (int i = 0; i < 3; ++i)
    isSame = isSame && static_cast<uint32_t>(newest.grid[i]) == shape.grid[i] &&
             static_cast<uint32_t>(newest.block[i]) == shape.block[i];
  if (!isSame)
    return std::nullopt;
  newest.isNew = false;
  return newest.endNs - newest.startNs;
}

std::optional<uint64_t> Cupti::lastKernelNs(CUdevice device, const LaunchShape& shape) noexcept {
  for (int attempt = 0; attempt < attempts; ++attempt) {
    if (attempt > 0)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    if (functions_.activityFlushAll(0) != success)
      return std::nullopt;
    if (const auto time = take(device, shape))
      return time;
  }
  functions_.activityFlushAll(flushForced);
  return take(device, shape);
}

void Cupti::pause() noexcept {
  functions_.activityFlushAll(flushForced);
  functions_.activityDisable(kindConcurrentKernel);
}

bool Cupti::resume() noexcept { return functions_.activityEnable(kindConcurrentKernel) == success; }

} // namespace mneme::device::cuda
