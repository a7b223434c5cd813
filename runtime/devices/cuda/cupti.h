// Room devices/cuda: kernel times measured by the GPU's own clock, from CUPTI where it is
// installed. Optional: any failure is treated as "no CUPTI".
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/devices/cuda/driver_types.h"
#include "runtime/devices/device.h"

namespace mneme::device::cuda {

struct CuptiFunctions;

/// The process's CUPTI, which records every kernel. Thread-safe.
class Cupti {
public:
  /// Starts CUPTI on the first call. Returns null if CUPTI is missing, refused by the driver or
  /// switched off with MNEME_TIMER=events, or if another tool (profiler, sanitizer, debugger)
  /// controls the process.
  static Cupti* find() noexcept;

  /// Returns the time in nanoseconds of the last kernel that ran on `device`, which must be
  /// complete. Returns none if that time was already returned, the kernel had another shape, or no
  /// record of it exists.
  std::optional<uint64_t> lastKernelNs(CUdevice device, const LaunchShape& shape) noexcept;

  /// From here on every kernel on `device` is remembered, for seriesNs().
  void startSeries(CUdevice device);
  void endSeries() noexcept;
  /// Returns the times of the `count` kernels since startSeries(), in their order, and forgets
  /// them. mneme's own do not count. All must be complete. Returns none if there are more or
  /// fewer records, or if one is of another shape.
  std::optional<std::vector<uint64_t>> seriesNs(const LaunchShape& shape, uint32_t count) noexcept;

  /// Records no kernels until resume(): recording them and reading counters disturb each other.
  void pause() noexcept;
  /// Returns whether kernels are recorded again.
  bool resume() noexcept;

private:
  explicit Cupti(const CuptiFunctions& functions);
  struct Kernel {
    uint64_t startNs = 0;
    uint64_t endNs = 0;
    uint32_t correlation = 0;
    int32_t grid[3] = {};
    int32_t block[3] = {};
    bool isNew = false;
    bool has(const LaunchShape& shape) const noexcept;
  };
  static constexpr uint32_t maxDevices = 64;

  static std::unique_ptr<Cupti> start();
  static void giveBuffer(uint8_t** buffer, size_t* sizeBytes, size_t* maxRecords);
  static void takeBuffer(CUcontext context, uint32_t stream, uint8_t* buffer, size_t sizeBytes,
                         size_t validBytes);
  void note(const uint8_t* record);
  std::optional<std::vector<uint64_t>> takeSeries(const LaunchShape& shape, uint32_t count);
  std::optional<uint64_t> take(CUdevice device, const LaunchShape& shape);

  const CuptiFunctions& functions_;
  std::mutex mutex_;
  Kernel newest_[maxDevices];
  CUdevice seriesOf_ = -1; ///< the device whose kernels are remembered
  std::vector<Kernel> series_;
};

} // namespace mneme::device::cuda
