// Where a program's own time goes. What the compiler of marked code does is traced with
// PROTEUS_ENABLE_TIME_TRACE=1 (docs/jit.md).
#pragma once

#include <chrono>
#include <cstdint>

namespace proteus {

/// Milliseconds since it was made.
class Timer {
public:
  uint64_t elapsed() const {
    const auto Elapsed = std::chrono::steady_clock::now() - Start;
    return static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(Elapsed).count());
  }
  void reset() { Start = std::chrono::steady_clock::now(); }

private:
  std::chrono::steady_clock::time_point Start = std::chrono::steady_clock::now();
};

} // namespace proteus
