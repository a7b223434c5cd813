// Room compile: requests whose module is source text, which another compiler makes IR of.
#pragma once

#include <string>
#include <vector>

#include "runtime/compile/service/client.h"

namespace mneme::compile {

/// Target of a request whose compiler makes the image, a shared object or a cubin, by itself.
inline constexpr const char* kSourceTarget = "source";

/// Where a program is, as a shell finds it by PATH; empty if it is nowhere or cannot be run.
std::string pathOfProgram(const std::string& name);

/// Runs Request::sourceCompiler on the first module, then compile() on what it wrote. The
/// statistics name the files that the source includes, but for the system's, and the compiler's
/// seconds ("source_time").
/// \throws Error{CompileFailed} with the compiler's own words, Error{NotFound} without it
Result compileSource(const Request& request);

/// Whether the files that a stored result came from are as they were then.
bool isUpToDate(const Result& result);

} // namespace mneme::compile
