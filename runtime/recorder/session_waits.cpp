// Room recorder: how a session waits for kernels, which may themselves wait for what the program
// does next: not for ever.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <utility>

#include "runtime/recorder/metadata_options.h"
#include "runtime/recorder/patience.h"
#include "runtime/recorder/session.h"

namespace mneme::record {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

/// How long threads outside the gate are kept waiting for a device that was idle shortly before,
/// and for the kernel itself, which may take its time.
constexpr seconds kIdleForOthers{5}, kKernelForOthers{10};
/// For a kernel that writes to no memory.
constexpr seconds kPatienceWithIdle{1};
/// A kernel may take so many times as long as the longest before it.
constexpr uint64_t kTimesLongest = 10;

constexpr const char* kOthersWentOn =
    "was not recorded: it had to wait for so long that other threads of the program went on";

} // namespace

const char* const Session::kDeviceBusy = "was not recorded: earlier work on the device had not "
                                         "ended, perhaps because a kernel waits for "
                                         "what the program does next, and the program went on; "
                                         "--kernel-patience SECONDS is for work that "
                                         "only takes long";

namespace {

std::string asSeconds(nanoseconds time) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g s", static_cast<double>(time.count()) * 1e-9);
  return text.data();
}

nanoseconds timesLongest(uint64_t longestNs) {
  return nanoseconds(static_cast<int64_t>(longestNs * kTimesLongest));
}

} // namespace

nanoseconds Session::kernelPatience() const noexcept {
  return std::max(settings_.kernelPatience, timesLongest(longestKernelNs_));
}

/// As the former, where the device was still at work once when there was no more patience with it.
nanoseconds Session::busyPatience() const noexcept {
  return std::max<nanoseconds>(seconds(1), timesLongest(longestKernelNs_));
}

/// Whether a device does what was waited for in vain.
bool Session::goesOn(unsigned device) {
  {
    const std::lock_guard lock(workMutex_);
    const auto known = work_.find(device);
    if (known == work_.end())
      return false;
    if (known->second && !backend_.isMarkPassed(known->second, false))
      return true;
  }
  // A wait that timed out may return a moment after the work has ended: ask once more.
  const auto isIdle = [&] {
    return backend_.synchronizeWithin(device, Patience(kAskPatience)).has_value();
  };
  const bool hasEnded = waitUntil(isIdle, Patience(kAskPatience));
  const std::lock_guard lock(workMutex_);
  const auto known = work_.find(device);
  const bool isMarked = known != work_.end() && known->second;
  if (known != work_.end() && (hasEnded || isMarked))
    work_.erase(known);
  return !hasEnded && !isMarked;
}

/// `mark` comes after work that is no longer waited for; null if no mark is possible.
void Session::noteWork(unsigned device, void* mark) noexcept {
  try {
    const std::lock_guard lock(workMutex_);
    work_[device] = mark;
  } catch (const std::exception&) { // no memory: the next launch finds out by waiting
  }
}

/// The device is reset, and marks on it are gone.
void Session::forgetWork(unsigned device) noexcept {
  const std::lock_guard lock(workMutex_);
  work_.erase(device);
}

/// Waits for the device outside the gate: what other threads must do for it to become idle they can
/// still do here. False (with a note, and settled) if it does not: the launch is made unrecorded,
/// and the next one of the kernel may be recorded, unless it is held up again.
bool Session::waitBefore(const Attempt& attempt, const mneme_launch& launch) {
  const unsigned device = backend_.placeOfLaunch(launch).device;
  const bool isKnown = goesOn(device);
  const Patience patience(wasDeviceBusy_ ? std::min(kernelPatience(), busyPatience())
                                         : kernelPatience());
  if (const auto status = isKnown ? std::nullopt : backend_.synchronizeWithin(device, patience)) {
    if (*status == 0)
      return true;
    noteFailedBefore(attempt, *status);
    settle(attempt, Fate::Failed, true);
    return false;
  }
  note("kernel '" + attempt.info->blob->shownName() + "' " + kDeviceBusy);
  if (!isKnown && patience.isOver()) {
    wasDeviceBusy_ = true;
    noteWork(device, nullptr);
    KernelState& state = *attempt.info->state;
    const std::lock_guard lock(state.mutex);
    state.isGivenUp = std::exchange(state.wasHeldUp, true);
  }
  settle(attempt, Fate::Failed, true);
  return false;
}

/// The same once the gate is shut: work of other threads may have come since.
bool Session::isIdleInside(const Attempt& attempt, Alone& alone) {
  std::optional<int> status;
  alone.waiting(kIdleForOthers, kernelPatience(), [&](const Patience& patience) {
    status = backend_.synchronizeWithin(place_.device, patience);
  });
  const std::string kernel = "kernel '" + attempt.info->blob->shownName() + "' ";
  if (!alone.isAlone())
    note(kernel + kOthersWentOn);
  else if (!status)
    note(kernel + kDeviceBusy);
  else if (*status != 0)
    noteFailedBefore(attempt, *status);
  return alone.isAlone() && status == 0;
}

/// The kernel goes on, and nothing waits for it any more.
void Session::giveUp(const KernelInfo& info, const mneme_launch& launch) {
  noteWork(place_.device, backend_.markStream(backend_.streamOf(launch)));
  const std::lock_guard lock(info.state->mutex);
  info.state->isGivenUp = true;
}

std::string Session::withWords(int status) const {
  const char* const words = backend_.wordsOf(status);
  const std::string number = "status " + std::to_string(status);
  return words ? std::string(words) + " (" + number + ")" : number;
}

void Session::noteRefused(const Attempt& attempt, int status) {
  // The same for all vendors: 209 is no code for this device, 218 to 222 code of another toolchain.
  const bool isOfOtherCode = status == 209 || (status >= 218 && status <= 222);
  std::string code;
  if (isOfOtherCode)
    for (const std::string& arch : attempt.info->architectures)
      code += (code.empty() ? "; the program has code for " : ", ") + arch;
  note("kernel '" + attempt.info->blob->shownName() +
       "' was not recorded: its launch was refused: " + withWords(status) + code);
}

/// False (with a note) when the kernel did not run to its end while it was waited for.
bool Session::launchAndWait(Attempt& attempt, const mneme_launch& launch, DeviceAccess& access,
                            artifact::Instance& instance, Alone& alone) {
  const uint64_t heapBefore = backend_.heapState();
  const uint64_t begin = nowNs();
  // What writes nothing has nothing to replay for, and takes long only where it waits.
  const nanoseconds atMost = writesNothing(attempt.info->blob->metadataJson)
                                 ? std::min<nanoseconds>(kernelPatience(), kPatienceWithIdle)
                                 : kernelPatience();
  access.launchBegins(launch);
  std::optional<int> status = 0;
  alone.waiting(kKernelForOthers, atMost, [&](const Patience& patience) {
    {
      const CancellationOfCaller asCaller;
      attempt.status = mneme_rt_call_vendor(&launch);
    }
    if (*attempt.status == 0)
      status = access.launchEnds(launch, instance.recordedNs, patience);
  });
  launchNs_ += nowNs() - begin;
  const std::string kernel = "kernel '" + attempt.info->blob->shownName() + "' ";
  if (!status)
    giveUp(*attempt.info, launch);
  else if (*status != 0)
    setDeviceFailed(true);
  if (*attempt.status != 0)
    noteRefused(attempt, *attempt.status);
  else if (status && *status != 0)
    note(kernel + "was not recorded: it failed: " + withWords(*status));
  else if (!alone.isAlone())
    note(kernel + kOthersWentOn);
  else if (!status)
    note(kernel + "was not recorded: after " + asSeconds(atMost) +
         " it had not ended, as a kernel that waits for what the program does next, and the "
         "program went on; --kernels leaves it out, --kernel-patience SECONDS is for one that only "
         "takes long");
  if (*attempt.status != 0 || status != 0 || !alone.isAlone())
    return false;
  longestKernelNs_ = std::max<uint64_t>(longestKernelNs_, instance.recordedNs);
  if (backend_.heapState() != heapBefore)
    note(kernel + "leaves memory on the device's heap, or frees some (new, malloc, free in device "
                  "code): its replays may fail or differ");
  return true;
}

} // namespace mneme::record
