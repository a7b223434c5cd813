// Room devices/gpu: one GPU in use. The application's current context is preserved: ours is current
// only while we use it, then the previous one is again.
#pragma once

#include "runtime/devices/gpu/gpu_driver.h"

namespace mneme::device::gpu {

/// Makes a context current for the calling thread until destruction. Calls may nest.
class ContextScope {
public:
  /// \throws as Driver::raise()
  ContextScope(const Driver& driver, ContextHandle context) : driver_(driver) {
    driver_.require(driver_.enter(context, &before_), "making the GPU's context current");
  }
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;
  ~ContextScope() { driver_.leave(before_); }

private:
  const Driver& driver_;
  ContextHandle before_ = nullptr;
};

/// A context with our own queue, and whether the two still work. Not thread-safe.
class Context {
public:
  virtual ~Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Driver& shared() const noexcept { return driver_; }
  int device() const noexcept { return device_; }
  ContextHandle raw() const noexcept { return context_; }
  StreamHandle stream() const noexcept { return stream_; }

  ContextScope use() const { return ContextScope(driver_, context_); }
  bool isUsable() const noexcept { return !isLost_; }
  /// Whether freeing things would wait for ever.
  bool isHung() const noexcept { return isHung_; }
  /// \throws Error{DeviceFailed} once the context is lost.
  void requireUsable() const;
  /// Like Driver::require(), but remembers errors that no context survives.
  void check(Status status, std::string_view what) {
    if (status != kSuccess) [[unlikely]]
      failed(status, what);
  }
  /// Asks the driver whether an error has made the context useless.
  void probe() noexcept;
  void markHung() noexcept { isLost_ = isHung_ = true; }
  /// Runs `action`, which frees things, with the context current. Returns false without running it
  /// if it would wait for ever, or if the context cannot be made current.
  template <typename Action> bool whenFreeing(const Action& action) const noexcept {
    ContextHandle before = nullptr;
    if (isHung_ || driver_.enter(context_, &before) != kSuccess)
      return false;
    action();
    driver_.leave(before);
    return true;
  }

protected:
  Context(const Driver& driver, int device) : driver_(driver), device_(device) {}

  const Driver& driver_;
  int device_;
  ContextHandle context_ = nullptr;
  StreamHandle stream_ = nullptr;

private:
  [[noreturn]] void failed(Status status, std::string_view what);

  bool isLost_ = false;
  bool isHung_ = false;
};

} // namespace mneme::device::gpu
