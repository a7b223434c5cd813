// Room core/base: protects the last error that a vendor's runtime keeps for the program.
#pragma once

namespace mneme {

/// While it lives, our calls of the runtime leave no error if the application had none.
class KeepsLastError {
public:
  /// `peek` returns the last error of the calling thread (0: none), `clear` returns and drops it.
  /// Both may be null.
  KeepsLastError(int (*peek)(), int (*clear)())
      : peek_(peek), clear_(clear), before_(peek ? peek() : 0) {}
  ~KeepsLastError() {
    if (peek_ && clear_ && before_ == 0 && peek_() != 0)
      clear_();
  }
  KeepsLastError(const KeepsLastError&) = delete;
  KeepsLastError& operator=(const KeepsLastError&) = delete;

private:
  int (*peek_)();
  int (*clear_)();
  int before_;
};

} // namespace mneme
