// Room replay (internal): on how many of a device's multiprocessors a replay runs.
#pragma once

#include <string>

#include "runtime/core/artifact/recording.h"
#include "runtime/devices/device.h"

namespace mneme::replay {

/// Lets a device that was just opened run all on as many multiprocessors as the recorded launch
/// had, or as MNEME_MULTIPROCESSORS says: a number, or "all". Returns a sentence about that; empty
/// if the launch had the whole device and nothing else is asked for, or if this kind of device has
/// no parts. \throws Error{InvalidArgument} if the variable is neither
std::string useRecordedPart(device::Device& device, const artifact::DevicePart& part);

} // namespace mneme::replay
