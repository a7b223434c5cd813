// Room compiler: reads a kernel's resource usage from an assembler's messages and from the cubin.
#pragma once

#include <string>

#include "runtime/compiler/assembler/assembler.h"

namespace mneme::compile {

/// Reads the lines of `-v` about `kernel`, of ptxas and of nvJitLink.
ResourceUsage usageInMessages(const std::string& messages, const std::string& kernel);

/// Adds facts that only the cubin has: constant bytes, and shared bytes if the messages had none. A
/// damaged cubin adds nothing.
void addUsageInCubin(ResourceUsage& usage, const std::string& cubin, const std::string& kernel);

/// Returns the lines with errors, at most four, joined by "; ".
std::string firstErrors(const std::string& messages);

} // namespace mneme::compile
