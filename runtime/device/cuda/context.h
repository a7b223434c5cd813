// Room device/cuda: the primary context of one GPU. The application's current context is never
// disturbed: ours is pushed while we use it and popped afterwards.
#pragma once

#include "runtime/device/cuda/driver.h"

namespace mneme::device::cuda {

/// Makes a context current for the calling thread until destruction. Calls may nest.
class ContextScope {
public:
  /// \throws as check()
  ContextScope(const Driver& driver, CUcontext context) : driver_(driver) {
    check(driver_.cuCtxPushCurrent(context), "making the GPU's context current");
  }
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;
  ~ContextScope() {
    CUcontext ignored = nullptr;
    driver_.cuCtxPopCurrent(&ignored);
  }

private:
  const Driver& driver_;
};

/// One GPU in use: its primary context, retained, a queue of our own in it, and whether the two
/// still work. Not thread-safe.
class Context {
public:
  /// `ordinal` counts the GPUs this process sees. \throws Error{BackendUnavailable}
  explicit Context(int ordinal);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  /// Never waits for a kernel that hangs: then everything is left to the end of the process.
  ~Context();

  const Driver& driver() const noexcept { return driver_; }
  CUdevice device() const noexcept { return device_; }
  CUcontext raw() const noexcept { return context_; }
  CUstream stream() const noexcept { return stream_; }
  int attribute(CUdevice_attribute attribute) const;

  ContextScope use() const { return ContextScope(driver_, context_); }
  bool isUsable() const noexcept { return !isLost_; }
  /// Whether freeing things would wait for ever.
  bool isHung() const noexcept { return isHung_; }
  /// \throws Error{DeviceFailed} once the context is lost.
  void requireUsable() const;
  /// As the free function; remembers errors no context survives.
  void check(CUresult result, std::string_view what) {
    if (result != CUDA_SUCCESS) [[unlikely]]
      failed(result, what);
  }
  /// Asks the driver whether an error has made the context useless.
  void probe() noexcept;
  void markHung() noexcept { isLost_ = isHung_ = true; }

private:
  [[noreturn]] void failed(CUresult result, std::string_view what);

  const Driver& driver_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  bool isLost_ = false;
  bool isHung_ = false;
};

} // namespace mneme::device::cuda
