// Room base: the error a vendor's runtime keeps for the program to ask for.
#pragma once

namespace mneme {

/// Calls of the runtime while it lives leave no error where the application had none. Functions may
/// be null.
class KeepsLastError {
public:
  /// What tells the last error of the calling thread (0: none), and what tells and drops it.
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
