// Room compile: what a kernel uses, read from an assembler's words and from the cubin.
#pragma once

#include <string>

#include "runtime/compile/assembler/assembler.h"

namespace mneme::compile {

/// Reads the lines of `-v` about `kernel`, of ptxas and of nvJitLink.
ResourceUsage usageInMessages(const std::string& messages, const std::string& kernel);

/// Adds what only the cubin tells: constant bytes, and shared bytes where the messages had none.
/// A damaged cubin adds nothing.
void addUsageInCubin(ResourceUsage& usage, const std::string& cubin, const std::string& kernel);

/// The lines that name an error, without information lines, at most four, joined by "; ".
std::string firstErrors(const std::string& messages);

} // namespace mneme::compile
