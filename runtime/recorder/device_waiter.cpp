#include "runtime/recorder/device_waiter.h"

#include <thread>

#include "runtime/core/base/blocked_signals.h"

namespace mneme::record {
namespace {

/// So long the thread looks for the next call to make before it sleeps: a launch that is recorded
/// asks for two, and each would take longer for waking a thread than for the call.
constexpr std::chrono::milliseconds kAwake{5};

/// Numbers may wrap around.
bool isReached(uint32_t number, uint32_t wanted) noexcept {
  return static_cast<int32_t>(number - wanted) >= 0;
}

} // namespace

std::optional<int> DeviceWaiter::wait(const Patience& patience) {
  if (const uint32_t begun = begun_; begun != ended_ && begun == givenUp_)
    return std::nullopt;
  start();
  const uint32_t mine = ++wanted_;
  wanted_.notify_one();
  if (waitUntil([&] { return isReached(ended_, mine); }, patience))
    return status_;
  givenUp_ = begun_.load();
  return std::nullopt;
}

void DeviceWaiter::start() {
  const std::lock_guard lock(startMutex_);
  if (hasThread_)
    return;
  const BlockedSignals blocked;
  std::thread([this] { run(); }).detach();
  hasThread_ = true;
}

void DeviceWaiter::run() noexcept {
  for (uint32_t done = 0;;) {
    if (!waitUntil([&] { return wanted_ != done; }, Patience(kAwake)))
      wanted_.wait(done);
    // One call serves all who asked before it.
    const uint32_t number = wanted_;
    begun_ = number;
    status_ = wait_();
    ended_ = done = number;
  }
}

DeviceWaiter& DeviceWaiters::of(unsigned device) {
  const std::lock_guard lock(mutex_);
  DeviceWaiter*& place = waiters_[device];
  if (!place)
    place = new DeviceWaiter([this, device] { return wait_(device); });
  return *place;
}

std::optional<int> DeviceWaiters::wait(unsigned device, const Patience& patience) noexcept {
  try {
    return of(device).wait(patience);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

} // namespace mneme::record
