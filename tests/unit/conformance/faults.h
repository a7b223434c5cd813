// Conformance: launches that fail, each in a process of its own since a GPU may not survive them.
#pragma once

#include <string>

namespace conformance {

/// Runs the fault of this name on a device and prints what came of it, in one line:
/// "<error code number> <1 if the device is usable> <1 if a good kernel still runs> <sentence>".
/// Returns 0, or 1 if there is no such fault.
int runFault(const std::string& name, const std::string& deviceId);

} // namespace conformance
