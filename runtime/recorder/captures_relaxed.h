// Room recorder: calls that would end a capture of another thread's.
#pragma once

namespace mneme::record {

/// While it lives, this thread may call what is unsafe while something is captured.
class CapturesRelaxed {
public:
  /// `exchange` is the vendor's; null does nothing.
  explicit CapturesRelaxed(int (*exchange)(int* mode)) : exchange_(exchange) { swap(); }
  ~CapturesRelaxed() { swap(); }
  CapturesRelaxed(const CapturesRelaxed&) = delete;
  CapturesRelaxed& operator=(const CapturesRelaxed&) = delete;

private:
  void swap() {
    if (exchange_ && exchange_(&mode_) != 0)
      exchange_ = nullptr;
  }

  int (*exchange_)(int* mode);
  int mode_ = 2; // relaxed, of all vendors
};

} // namespace mneme::record
