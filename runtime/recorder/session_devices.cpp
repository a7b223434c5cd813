// Room recorder: launches on several devices by one call, as the session sees them.
#include <algorithm>
#include <optional>

#include "runtime/core/base/sentence.h"
#include "runtime/recorder/launches_on_devices.h"
#include "runtime/recorder/session.h"

namespace mneme::record {
namespace {

/// False if one of the devices is still at work when the patience is over.
bool waitForAll(Backend& backend, std::span<const Session::DeviceLaunch> launches,
                const Patience& patience) {
  return std::ranges::all_of(launches, [&](const Session::DeviceLaunch& one) {
    return backend.synchronizeWithin(one.place.device, patience).has_value();
  });
}

} // namespace

/// `why` is logged after the kernel's name, unless it is null.
void Session::dropRecording(Attempt& attempt, const char* why, bool mayRetry) noexcept {
  attempt.isRecorded = false;
  try {
    if (why)
      note("kernel '" + attempt.info->blob->shownName() + "' " + why);
    settle(attempt, Fate::Failed, mayRetry);
  } catch (const std::exception&) { // no memory: the application matters more
  }
}

/// Reports one launch after a failure; the later ones fail for the same reason.
void Session::noteFailedBefore(const Attempt& attempt, int status) noexcept {
  setDeviceFailed(true);
  const std::string reason =
      sentence("kernel '", attempt.info->blob->shownName(),
               "' was not recorded: the device had failed before its launch: ", withWords(status));
  noteOnce(reason.c_str(), &hasDeviceFailed_);
}

/// As decide(), and what stands against a recording is known here already: the call is made as it
/// is written where nothing is recorded.
Session::Attempt Session::decideApart(const DeviceLaunch& one, bool isCooperative) {
  Attempt attempt = decide(one.launch);
  if (!attempt.isRecorded)
    return attempt;
  if (isCooperative && refersTo(*attempt.info, backend_.functionsAcrossGrids()))
    dropRecording(attempt,
                  "is not recorded: its grids on several devices may know of each other "
                  "(multi_grid_group), and a launch is replayed alone",
                  false);
  else if (const std::string reason = whyNot(attempt, one.launch); !reason.empty()) {
    note(reason);
    dropRecording(attempt, nullptr, true);
  }
  return attempt;
}

/// Whether any launch is to be recorded; if none is, all are counted.
bool Session::decideAll(std::span<const DeviceLaunch> launches, bool isCooperative,
                        std::vector<Attempt>& attempts) noexcept {
  try {
    attempts.resize(launches.size());
  } catch (const std::exception&) { // no memory: the application matters more
    return false;
  }
  bool isAny = false;
  for (size_t index = 0; index < launches.size(); ++index)
    try {
      attempts[index].isCounted = !launches[index].isKnown;
      if (isActive() && launches[index].isKnown)
        attempts[index] = decideApart(launches[index], isCooperative);
      isAny |= attempts[index].isRecorded;
    } catch (const std::exception& error) {
      note(sentence("a launch could not be recorded: ", error.what()));
    }
  for (size_t index = 0; index < launches.size() && !isAny; ++index)
    count(attempts[index]);
  return isAny;
}

int Session::makeAlone(Attempt& attempt, const DeviceLaunch& one, const Next& alone) {
  const AsWritten written(alone);
  return make(attempt, one.launch);
}

/// What came before is not waited for any longer: the call is made as it is written.
int Session::makeTogether(std::vector<Attempt>& attempts, const Next& together) {
  for (Attempt& attempt : attempts)
    if (attempt.isRecorded)
      dropRecording(attempt, kDeviceBusy, true);
  const CallGuard guard;
  for (Attempt& attempt : attempts)
    count(attempt);
  return together();
}

/// Kernels that are not waited for any longer: what comes later in one of their streams waits for
/// all of them on the device, as the call promises.
void Session::orderBehind(std::span<const DeviceLaunch> launches) noexcept {
  const CallGuard guard;
  for (const DeviceLaunch& one : launches) {
    const AtPlace there(backend_, one.place);
    void* const mark = backend_.markStream(one.launch.stream);
    for (const DeviceLaunch& other : launches) {
      const AtPlace overThere(backend_, other.place);
      if (mark && &other != &one)
        backend_.waitOnStream(other.launch.stream, mark);
    }
    noteWork(one.place.device, mark);
  }
}

/// What the call promises of the order between streams is kept by waiting. Kernels that wait for
/// each other by means of their own are given up one after the other.
int Session::launchOnDevices(std::span<const DeviceLaunch> launches, const CallOnDevices& call,
                             const Next& together, const NextOf& alone) {
  std::vector<Attempt> attempts;
  {
    const CallGuard guard;
    if (!decideAll(launches, call.isCooperative, attempts))
      return together();
  }
  const DeferredCancellation cancellation;
  if (!(call.flags & kNoWaitBefore) && !waitForAll(backend_, launches, Patience(kernelPatience())))
    return makeTogether(attempts, together);
  int status = 0;
  for (size_t index = 0; index < launches.size(); ++index) {
    const auto one = [&] { return alone(index); };
    if (status == 0) {
      status = makeAlone(attempts[index], launches[index], one);
      continue;
    }
    // The vendor makes none behind one that fails, either; all count as launches of the program.
    if (attempts[index].isRecorded)
      dropRecording(attempts[index], nullptr, true);
    const CallGuard guard;
    count(attempts[index]);
  }
  if (status == 0 && !(call.flags & kNoWaitAfter) &&
      !waitForAll(backend_, launches, Patience(kernelPatience())))
    orderBehind(launches);
  return status;
}

} // namespace mneme::record
