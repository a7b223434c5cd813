// Room device/cuda: kernel times as the GPU's own clock gives them, from CUPTI where it is
// installed. Optional in every respect: whatever goes wrong means "no CUPTI".
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "runtime/device/cuda/driver_types.h"
#include "runtime/device/device.h"

namespace mneme::device::cuda {

/// CUPTI of this process, recording every kernel. Thread-safe.
class Cupti {
public:
  /// Started on the first call; null where it is missing, refused by the driver, switched off with
  /// MNEME_TIMER=events, or where another tool (profiler, sanitizer, debugger) drives the process.
  static Cupti* find() noexcept;

  /// Time in nanoseconds of the last kernel that ran on `device`, which must be complete; nothing
  /// if that one was told before, had another shape, or left no record.
  std::optional<uint64_t> lastKernelNs(CUdevice device, const LaunchShape& shape) noexcept;

  struct Functions;

private:
  explicit Cupti(const Functions& functions);
  struct Kernel {
    uint64_t startNs = 0;
    uint64_t endNs = 0;
    uint32_t correlation = 0;
    int32_t grid[3] = {};
    int32_t block[3] = {};
    bool isNew = false;
  };
  static constexpr uint32_t maxDevices = 64;

  static std::unique_ptr<Cupti> start();
  static void giveBuffer(uint8_t** buffer, size_t* sizeBytes, size_t* maxRecords);
  static void takeBuffer(CUcontext context, uint32_t stream, uint8_t* buffer, size_t sizeBytes,
                         size_t validBytes);
  void note(const uint8_t* record);
  std::optional<uint64_t> take(CUdevice device, const LaunchShape& shape);

  const Functions& functions_;
  std::mutex mutex_;
  Kernel newest_[maxDevices];
};

} // namespace mneme::device::cuda
