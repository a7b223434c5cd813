#include "runtime/recorder/gate.h"

#include <algorithm>
#include <climits>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mneme::record {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr uint32_t kShut = 1u << 31;
constexpr uint32_t kYielding = 1u << 30; ///< those outside may open it when they have waited enough
constexpr uint32_t kFlags = kShut | kYielding;
constexpr uint32_t kInside = ~kFlags;

// Both kinds of waiters sleep on the same word.
constexpr uint32_t kOutsiders = 1, kShutter = 2;

/// If no thread leaves for this long, those inside may be waiting for one outside.
constexpr milliseconds kFirstPatience{1000};
/// For those outside to wake up and get in, on a busy machine too.
constexpr milliseconds kBreath{20};
/// Those outside look this often whether they may open the gate.
constexpr milliseconds kLook{500};
constexpr int kMaxSeenOpen = 3;

int64_t nowNs() noexcept { return Clock::now().time_since_epoch().count(); }

void futexWait(std::atomic<uint32_t>& word, uint32_t value, uint32_t whose,
               milliseconds atMost) noexcept {
  timespec end{};
  clock_gettime(CLOCK_MONOTONIC, &end);
  const int64_t ns = end.tv_nsec + std::max<int64_t>(atMost.count(), 1) * 1'000'000;
  end.tv_sec += ns / 1'000'000'000;
  end.tv_nsec = ns % 1'000'000'000;
  syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, value, &end, nullptr, whose);
}

void futexWake(std::atomic<uint32_t>& word, int count, uint32_t whose) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_BITSET_PRIVATE, count, nullptr, nullptr, whose);
}

} // namespace

void Gate::enter() noexcept {
  uint32_t seen = state_.load(std::memory_order_relaxed);
  for (;;) {
    if (seen & kShut) {
      waitOutside(seen);
      seen = state_.load(std::memory_order_relaxed);
    } else if (state_.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire,
                                            std::memory_order_relaxed)) {
      return;
    }
  }
}

void Gate::leave() noexcept {
  const uint32_t before = state_.fetch_sub(1, std::memory_order_release);
  if ((before & kShut) && (before & kInside) == 1)
    futexWake(state_, 1, kShutter);
}

void Gate::waitOutside(uint32_t seen) noexcept {
  milliseconds atMost = kLook;
  if (seen & kYielding) {
    const int64_t leftNs = yieldsAtNs_.load(std::memory_order_relaxed) - nowNs();
    if (leftNs <= 0) {
      // Only while it yields: the flag is gone once the wait of who shut it is over.
      if (state_.compare_exchange_strong(seen, seen & ~kFlags, std::memory_order_acq_rel))
        futexWake(state_, INT_MAX, kOutsiders);
      return;
    }
    atMost = std::min(kLook, milliseconds(leftNs / 1'000'000 + 1));
  }
  futexWait(state_, seen, kOutsiders, atMost);
}

void Gate::letIn(uint32_t removed) noexcept {
  state_.fetch_and(~removed, std::memory_order_release);
  futexWake(state_, INT_MAX, kOutsiders);
}

bool Gate::shut(Milliseconds patience) noexcept {
  if (!takeTurn(patience))
    return false;
  for (Milliseconds each = std::min(kFirstPatience, patience);; each *= 2) {
    state_.fetch_or(kShut, std::memory_order_relaxed);
    if (waitForLeaving(std::min(each, patience)))
      return true;
    letIn(kShut);
    if (each >= patience)
      break;
    futexWait(turns_, turns_.load(std::memory_order_relaxed), kShutter, kBreath);
  }
  giveTurn();
  return false;
}

bool Gate::shutAnyway(Milliseconds forTurn, Milliseconds forCalls) noexcept {
  if (!takeTurn(forTurn))
    return false;
  state_.fetch_or(kShut, std::memory_order_relaxed);
  waitForLeaving(forCalls);
  return true;
}

void Gate::open() noexcept {
  letIn(kFlags);
  giveTurn();
}

/// Returns false if no thread has left for `patience`.
bool Gate::waitForLeaving(Milliseconds patience) noexcept {
  uint32_t before = kInside;
  int64_t untilNs = 0;
  for (;;) {
    const uint32_t seen = state_.load(std::memory_order_acquire);
    const uint32_t inside = seen & kInside;
    if (inside == 0)
      return true;
    if (inside < before)
      untilNs = nowNs() + patience.count() * 1'000'000;
    before = inside;
    const int64_t leftNs = untilNs - nowNs();
    if (leftNs <= 0)
      return false;
    futexWait(state_, seen, kShutter, milliseconds(leftNs / 1'000'000 + 1));
  }
}

/// Returns false once no turn has ended for `patience`, or the gate of the thread that has the turn
/// has been open for longer than a short pause.
bool Gate::takeTurn(Milliseconds patience) noexcept {
  uint32_t free = 0;
  if (turn_.compare_exchange_strong(free, 1, std::memory_order_acquire))
    return true;
  uint32_t turns = turns_.load(std::memory_order_relaxed);
  int64_t untilNs = nowNs() + patience.count() * 1'000'000;
  for (int seenOpen = 0; turn_.exchange(2, std::memory_order_acquire) != 0;) {
    if (const uint32_t now = turns_.load(std::memory_order_relaxed); now != turns) {
      turns = now;
      seenOpen = 0;
      untilNs = nowNs() + patience.count() * 1'000'000;
    }
    seenOpen = state_.load(std::memory_order_relaxed) & kShut ? 0 : seenOpen + 1;
    const int64_t leftNs = untilNs - nowNs();
    if (leftNs <= 0 || seenOpen > kMaxSeenOpen)
      return false;
    futexWait(turn_, 2, kShutter, std::min(kLook, milliseconds(leftNs / 1'000'000 + 1)));
  }
  return true;
}

void Gate::giveTurn() noexcept {
  turns_.fetch_add(1, std::memory_order_relaxed);
  if (turn_.exchange(0, std::memory_order_release) == 2)
    futexWake(turn_, 1, kShutter);
}

void Gate::yieldAfter(Milliseconds patience) noexcept {
  yieldsAtNs_.store(nowNs() + patience.count() * 1'000'000, std::memory_order_relaxed);
  state_.fetch_or(kYielding, std::memory_order_release);
}

bool Gate::endYielding() noexcept {
  return (state_.fetch_and(~kYielding, std::memory_order_acq_rel) & kShut) != 0;
}

bool Gate::isShut() const noexcept { return (state_.load(std::memory_order_acquire) & kShut) != 0; }

void Gate::resetInChild(bool isInside) noexcept {
  state_.store(isInside ? 1 : 0);
  turn_.store(0);
}

} // namespace mneme::record
