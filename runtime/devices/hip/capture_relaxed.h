// Room devices/hip: allows calls while the program captures its work into a graph.
#pragma once

namespace mneme::device::hip {

/// While it exists, calls of this thread do not invalidate the program's captures.
class CaptureRelaxed {
public:
  /// `exchange` is hipThreadExchangeStreamCaptureMode, or null if HIP does not have it.
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
  int mode_ = 2; ///< hipStreamCaptureModeRelaxed; after the swap, the previous mode
};

} // namespace mneme::device::hip
