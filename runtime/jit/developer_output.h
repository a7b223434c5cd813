// Room jit: what people want to see who look into compilations of marked code: timers, LLVM's time
// trace, and IR before and after specialisation.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/compile/service/client.h"
#include "runtime/jit/settings.h"

namespace mneme::jit {

/// What the lines of PROTEUS_ENABLE_TIMERS call a compilation.
struct TimerWords {
  std::string name;
  std::string level; ///< LLVM's level, or a pipeline
};

/// Makes a request ask for what the settings want to see.
void askForMore(compile::Request& request, const Settings& settings);

/// The lines of PROTEUS_ENABLE_TIMERS about one compilation; empty unless they are wanted.
std::string timerLines(const Settings& settings, const compile::Request& request,
                       const compile::Result& result, const TimerWords& words);

/// Writes what PROTEUS_DEBUG_OUTPUT wants to `.proteus-logs`, and keeps the time trace.
/// Thread-safe; problems are no errors, and said once.
void keepOutputs(const Settings& settings, const std::string& name, uint64_t hash,
                 const compile::Result& result) noexcept;

/// The time trace is written at exit, if it is wanted. Once for both engines.
void writeTimeTraceAtExit(const Settings& settings);

} // namespace mneme::jit
