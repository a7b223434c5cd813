// Room device: who else is in this process.
#pragma once

#include <string>

namespace mneme::device {

/// The profiler, sanitizer or debugger that drives this process, as a word for messages; empty if
/// there is none.
std::string drivingTool();

} // namespace mneme::device
