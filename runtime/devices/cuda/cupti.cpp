#include "runtime/devices/cuda/cupti.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string_view>
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
/// How the names of mneme's own kernels begin.
constexpr std::string_view ownKernels = "mneme";

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
  Kernel kernel{.startNs = record.start, .endNs = record.end, .correlation = record.correlationId};
  std::memcpy(kernel.grid, record.grid, sizeof(kernel.grid));
  std::memcpy(kernel.block, record.block, sizeof(kernel.block));
  kernel.isNew = true;
  if (seriesOf_ == static_cast<CUdevice>(record.deviceId) &&
      !(record.name && std::string_view(record.name).starts_with(ownKernels)))
    series_.push_back(kernel);
  Kernel& newest = newest_[record.deviceId];
  const auto age = static_cast<int32_t>(record.correlationId - newest.correlation);
  if (newest.endNs == 0 || age > 0)
    newest = kernel;
}

bool Cupti::Kernel::has(const LaunchShape& shape) const noexcept {
  bool isSame = true;
  for (int i = 0; i < 3; ++i)
    isSame = isSame && static_cast<uint32_t>(grid[i]) == shape.grid[i] &&
             static_cast<uint32_t>(block[i]) == shape.block[i];
  return isSame;
}

std::optional<uint64_t> Cupti::take(CUdevice device, const LaunchShape& shape) {
  const std::lock_guard lock(mutex_);
  if (device < 0 || static_cast<uint32_t>(device) >= maxDevices)
    return std::nullopt;
  Kernel& newest = newest_[device];
  if (!newest.isNew || !newest.has(shape))
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

void Cupti::startSeries(CUdevice device) {
  const std::lock_guard lock(mutex_);
  series_.clear();
  seriesOf_ = device < static_cast<CUdevice>(maxDevices) ? device : -1;
}

void Cupti::endSeries() noexcept {
  const std::lock_guard lock(mutex_);
  series_.clear();
  if (seriesOf_ >= 0)
    newest_[seriesOf_].isNew = false; // it is one of these
  seriesOf_ = -1;
}

std::optional<std::vector<uint64_t>> Cupti::takeSeries(const LaunchShape& shape, uint32_t count) {
  const std::lock_guard lock(mutex_);
  if (series_.size() < count || seriesOf_ < 0)
    return std::nullopt;
  newest_[seriesOf_].isNew = false; // it is one of these
  seriesOf_ = -1;
  std::sort(series_.begin(), series_.end(), [](const Kernel& first, const Kernel& second) {
    return static_cast<int32_t>(first.correlation - second.correlation) < 0;
  });
  std::vector<uint64_t> times;
  for (const Kernel& kernel : series_)
    if (kernel.has(shape))
      times.push_back(kernel.endNs - kernel.startNs);
  const bool isWhole = series_.size() == count && times.size() == count;
  series_.clear();
  return isWhole ? std::optional(std::move(times)) : std::nullopt;
}

std::optional<std::vector<uint64_t>> Cupti::seriesNs(const LaunchShape& shape,
                                                     uint32_t count) noexcept {
  for (int attempt = 0; attempt < attempts; ++attempt) {
    if (attempt > 0)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    if (functions_.activityFlushAll(0) != success)
      break;
    if (auto times = takeSeries(shape, count))
      return times;
  }
  functions_.activityFlushAll(flushForced);
  return takeSeries(shape, count);
}

void Cupti::pause() noexcept {
  functions_.activityFlushAll(flushForced);
  functions_.activityDisable(kindConcurrentKernel);
}

bool Cupti::resume() noexcept { return functions_.activityEnable(kindConcurrentKernel) == success; }

} // namespace mneme::device::cuda
