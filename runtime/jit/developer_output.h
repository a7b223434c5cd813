// Room jit: output for developers about compilations of marked code: timers, LLVM's time trace, and
// IR before and after specialisation.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/compiler/service/client.h"
#include "runtime/jit/jit_settings.h"

namespace mneme::jit {

/// Names of a compilation in the lines of PROTEUS_ENABLE_TIMERS.
struct TimerWords {
  std::string name;
  std::string level; ///< LLVM's level, or a pipeline
};

/// Adds to a request the outputs that the settings ask for.
void askForMore(compile::Request& request, const Settings& settings);

/// Returns the lines of PROTEUS_ENABLE_TIMERS about one compilation; empty unless they are asked
/// for.
std::string timerLines(const Settings& settings, const compile::Request& request,
                       const compile::Result& result, const TimerWords& words);

/// Writes the output of PROTEUS_DEBUG_OUTPUT to `.proteus-logs`, and keeps the time trace.
/// Thread-safe. Problems are reported once and are not errors.
void keepOutputs(const Settings& settings, const std::string& name, uint64_t hash,
                 const compile::Result& result) noexcept;

/// Writes the time trace at exit if it is asked for, once for both engines.
void writeTimeTraceAtExit(const Settings& settings);

} // namespace mneme::jit
