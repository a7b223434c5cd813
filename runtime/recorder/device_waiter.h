// Room recorder: waits for a device with a time limit. The vendor's call returns only when all work
// has ended, so a thread of the recorder makes the call, and the waiting thread can give up.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include "runtime/recorder/patience.h"

namespace mneme::record {

/// Waits for one device. Thread-safe. Must not be destroyed, because its thread may never return.
class DeviceWaiter {
public:
  /// `wait` returns the vendor's status once all earlier work has ended.
  explicit DeviceWaiter(std::function<int()> wait) : wait_(std::move(wait)) {}
  DeviceWaiter(const DeviceWaiter&) = delete;
  DeviceWaiter& operator=(const DeviceWaiter&) = delete;

  /// Waits for all earlier work and returns its status. Returns nothing if the patience is over
  /// first, and immediately while work is running that an earlier wait gave up on.
  /// \throws std::system_error if there can be no thread
  std::optional<int> wait(const Patience& patience);

private:
  void start();
  void run() noexcept;

  const std::function<int()> wait_;
  std::mutex startMutex_;
  bool hasThread_ = false;
  // Numbers of calls: the last one requested, begun and ended, and the last one that was given up.
  std::atomic<uint32_t> wanted_{0}, begun_{0}, ended_{0}, givenUp_{0};
  std::atomic<int> status_{0};
};

/// The waiters of all devices, by device number.
class DeviceWaiters {
public:
  /// `wait` is called with the device.
  explicit DeviceWaiters(std::function<int(unsigned)> wait) : wait_(std::move(wait)) {}
  /// Also returns nothing if no thread can be started.
  std::optional<int> wait(unsigned device, const Patience& patience) noexcept;

private:
  DeviceWaiter& of(unsigned device);

  const std::function<int(unsigned)> wait_;
  std::mutex mutex_;
  std::map<unsigned, DeviceWaiter*> waiters_;
};

} // namespace mneme::record
