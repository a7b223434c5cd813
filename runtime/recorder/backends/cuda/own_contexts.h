// Room recorder: the contexts that the program made itself and works in, as far as they were seen.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>

#include "runtime/devices/cuda/cuda_driver.h"

namespace mneme::record {

/// Thread-safe.
class OwnContexts {
public:
  using Wait = std::function<int(device::cuda::CUcontext context)>;

  void note(device::cuda::CUcontext context, unsigned device) noexcept;
  /// Calls `wait` for each context of the device. Returns the first status that is not 0.
  int waitForAll(unsigned device, const Wait& wait);
  /// Call it before a context is destroyed: nothing waits for it from now on.
  void forget(device::cuda::CUcontext context) noexcept;

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<device::cuda::CUcontext, unsigned> known_;       ///< with their devices
  std::map<device::cuda::CUcontext, unsigned> waitedForBy_; ///< number of threads
};

} // namespace mneme::record
