#include "runtime/recorder/launches_on_devices.h"

#include <algorithm>
#include <vector>

#include "runtime/core/base/sentence.h"
#include "runtime/recorder/session.h"

namespace mneme::record {
namespace {

constexpr const char* kOtherwise =
    "kernels were launched on several devices by one call in a way that the recorder does not "
    "know; they are not recorded";
constexpr const char* kPlaces =
    "kernels were launched on several devices by one call, on streams that the recorder cannot "
    "tell the devices of; they are not recorded";
constexpr const char* kUnmatched = "one call launched different kernels, or different dimensions, "
                                   "on several devices; they are not "
                                   "recorded";

/// The launches, or why none is recorded if the vendor makes them all the same.
struct Found {
  std::vector<Session::DeviceLaunch> launches;
  const char* whyNot = kOtherwise;
};

bool hasNone(const mneme_dim3& dims) { return dims.x == 0 || dims.y == 0 || dims.z == 0; }

bool areAlike(const mneme_dim3& one, const mneme_dim3& other) {
  return one.x == other.x && one.y == other.y && one.z == other.z;
}

bool match(const Session::DeviceLaunch& one, const Session::DeviceLaunch& other) {
  const mneme_launch &left = one.launch, &right = other.launch;
  return one.code == other.code && areAlike(left.grid, right.grid) &&
         areAlike(left.block, right.block) && left.sharedBytes == right.sharedBytes;
}

/// Nothing if the vendor has to say what is wrong.
std::optional<Session::DeviceLaunch> describe(Session& session, const LoadedLaunch& launch,
                                              const WorkPlace& place, const char* whyUnknown) {
  const auto [kernel, info] = session.findKernel(launch.function);
  const bool isKnown = info && info->blob;
  if (!isKnown)
    session.noteKernelOnce(info ? whyUnreadable(*info) : whyUnknown, launch.function);
  else if (!launch.args && !info->blob->args.empty())
    return std::nullopt;
  // One kernel may have another handle on each device.
  return Session::DeviceLaunch{
      .launch = asRecorded(launch, kernel ? kernel : launch.function, launch.args),
      .place = place,
      .code = isKnown ? static_cast<const void*>(info->state.get()) : launch.function,
      .isKnown = isKnown};
}

Found read(Session& session, const CallOnDevices& call) {
  Backend& backend = session.backend();
  Found found;
  if (!call.launches || call.count < 1 || call.count > backend.deviceCount())
    return found;
  for (size_t index = 0; index < static_cast<size_t>(call.count); ++index) {
    LoadedLaunch launch = call.read(call.launches, index);
    launch.isCooperative = call.isCooperative;
    if (!launch.function || hasNone(launch.grid) || hasNone(launch.block) ||
        isDefaultStream(launch.stream))
      return found;
    std::optional<WorkPlace> place = backend.placeOf(launch.stream);
    if (!place && call.count == 1)
      place = backend.currentPlace();
    if (!place)
      return {{}, kPlaces};
    const auto isThere = [&](const auto& other) { return other.place.device == place->device; };
    const auto one = describe(session, launch, *place, call.whyUnknown);
    if (std::ranges::any_of(found.launches, isThere) || !one)
      return found;
    found.launches.push_back(*one);
  }
  const auto isOther = [&](const auto& other) { return !match(found.launches.front(), other); };
  const bool isRefused = call.mustMatch && std::ranges::any_of(found.launches, isOther);
  found.whyNot = isRefused ? kUnmatched : nullptr;
  return found;
}

} // namespace

int launchOnDevices(const CallOnDevices& call, const Next& together, const NextOf& alone) {
  if (isInsideCall())
    return together();
  Session& session = Session::instance();
  if (!session.isActive())
    return together();
  Found found;
  try {
    const DeferredCancellation cancellation;
    found = read(session, call);
  } catch (const std::exception& error) {
    session.note(sentence("a launch could not be recorded: ", error.what()));
  }
  if (!found.whyNot)
    return session.launchOnDevices(found.launches, call, together, alone);
  const CallGuard guard;
  const int status = together();
  if (status == 0)
    session.noteOnce(found.whyNot, found.whyNot);
  return status;
}

} // namespace mneme::record
