// Room devices: detects tools that control this process.
#pragma once

#include <string>

namespace mneme::device {

/// Returns the profiler, sanitizer or debugger that controls this process, as a word for messages;
/// empty if there is none.
std::string drivingTool();

} // namespace mneme::device
