#include "runtime/recorder/open_captures.h"

#include <atomic>

namespace mneme::record {
namespace {

std::atomic<int> captures{0};

} // namespace

void captureBegan() noexcept { ++captures; }

bool isCapturingAny() noexcept { return captures.load() > 0; }

int captureEnded(int status) noexcept {
  int open = captures.load();
  while (open > 0 && !captures.compare_exchange_weak(open, open - 1)) {
  }
  return status;
}

} // namespace mneme::record
