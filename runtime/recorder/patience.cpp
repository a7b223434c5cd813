#include "runtime/recorder/patience.h"

#include <algorithm>
#include <ctime>

#include <sched.h>

namespace mneme::record {
namespace {

using std::chrono::nanoseconds;

/// A vendor's own wait looks without a pause for as long as it takes: kernels of milliseconds are
/// found to have ended as soon as by that.
constexpr nanoseconds kAwake = std::chrono::milliseconds(10);
constexpr nanoseconds kLongestPause = std::chrono::milliseconds(10);
/// A pause is that part of what was waited for already.
constexpr int kPart = 64;

} // namespace

void pauseAfter(nanoseconds waited) noexcept {
  if (waited < kAwake) {
    sched_yield();
    return;
  }
  const timespec pause{0, static_cast<long>(std::min(waited / kPart, kLongestPause).count())};
  nanosleep(&pause, nullptr);
}

} // namespace mneme::record
