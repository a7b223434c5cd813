// Room device/hip: calls while the program captures its work into a graph.
#pragma once

namespace mneme::device::hip {

/// While it lives, calls of this thread do not spoil what the program captures.
class CaptureRelaxed {
public:
  /// `exchange` is hipThreadExchangeStreamCaptureMode; null where HIP has none.
  explicit CaptureRelaxed(int (*exchange)(int* mode)) noexcept : exchange_(exchange) { swap(); }
  ~CaptureRelaxed() { swap(); }
  CaptureRelaxed(const CaptureRelaxed&) = delete;
  CaptureRelaxed& operator=(const CaptureRelaxed&) = delete;

private:
  void swap() noexcept {
    if (exchange_)
      exchange_(&mode_);
  }
  int (*exchange_)(int* mode);
  int mode_ = 2; ///< hipStreamCaptureModeRelaxed; the one before, meanwhile
};

} // namespace mneme::device::hip
