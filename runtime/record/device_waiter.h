// Room record: waiting for a device by a call of the vendor's that returns when everything has
// ended, and not before: on a thread of the recorder, so that who waits can give up.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include "runtime/record/patience.h"

namespace mneme::record {

/// One device. Thread-safe; not to be destroyed, as its thread may never come back.
class DeviceWaiter {
public:
  /// `wait` returns the vendor's status once all has ended that was begun before.
  explicit DeviceWaiter(std::function<int()> wait) : wait_(std::move(wait)) {}
  DeviceWaiter(const DeviceWaiter&) = delete;
  DeviceWaiter& operator=(const DeviceWaiter&) = delete;

  /// The status for what was begun before. Nothing if the patience was over first; and at once
  /// while that goes on which somebody had no more patience for.
  /// \throws std::system_error if there can be no thread
  std::optional<int> wait(const Patience& patience);

private:
  void start();
  void run() noexcept;

  const std::function<int()> wait_;
  std::mutex startMutex_;
  bool hasThread_ = false;
  // Calls by number: asked for, begun and ended last, and the one nobody waits for any more.
  std::atomic<uint32_t> wanted_{0}, begun_{0}, ended_{0}, givenUp_{0};
  std::atomic<int> status_{0};
};

/// Of all devices, by their number.
class DeviceWaiters {
public:
  /// `wait` takes the device.
  explicit DeviceWaiters(std::function<int(unsigned)> wait) : wait_(std::move(wait)) {}
  /// Nothing as well if there can be no thread.
  std::optional<int> wait(unsigned device, const Patience& patience) noexcept;

private:
  DeviceWaiter& of(unsigned device);

  const std::function<int(unsigned)> wait_;
  std::mutex mutex_;
  std::map<unsigned, DeviceWaiter*> waiters_;
};

} // namespace mneme::record
