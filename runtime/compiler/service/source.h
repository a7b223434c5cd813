// Room compiler: requests whose module is source text, which another compiler turns into IR.
#pragma once

#include <string>
#include <vector>

#include "runtime/compiler/service/request.h"

namespace mneme::compile {

/// Returns the path of a program, as a shell finds it by PATH; empty if it is not found or cannot
/// be run.
std::string pathOfProgram(const std::string& name);

/// Runs Request::sourceCompiler on the first module, then compile() on its output. The statistics
/// name the files that the source includes, except the system's, and the compiler's seconds
/// ("source_time").
/// \throws Error{CompileFailed} with the compiler's own words, Error{NotFound} without it
Result compileSource(const Request& request);

/// Whether the files that a stored result was made from are unchanged.
bool isUpToDate(const Result& result);

} // namespace mneme::compile
