// Room compiler: measures the parts of a compilation.
#pragma once

#include <llvm/Support/TimeProfiler.h>
#include <llvm/Support/raw_ostream.h>

#include <chrono>
#include <string>

namespace mneme::compile {

/// Adds the time of its life to `seconds`, and appears under its name in LLVM's time trace.
class Stage {
public:
  Stage(const char* name, double& seconds) : scope_(name), seconds_(seconds) {}
  ~Stage() {
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

private:
  llvm::TimeTraceScope scope_;
  double& seconds_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// While alive, LLVM traces the time of this thread, down to `grainMicroseconds`; 0: no trace.
class TimeTrace {
public:
  explicit TimeTrace(unsigned grainMicroseconds) : isOn_(grainMicroseconds > 0) {
    if (isOn_)
      llvm::timeTraceProfilerInitialize(grainMicroseconds, "mneme-jit-compile");
  }
  ~TimeTrace() {
    if (isOn_)
      llvm::timeTraceProfilerCleanup();
  }
  TimeTrace(const TimeTrace&) = delete;
  TimeTrace& operator=(const TimeTrace&) = delete;

  /// The trace as JSON for Chrome's tracing; empty if it is off.
  std::string text() const {
    llvm::SmallString<0> text;
    llvm::raw_svector_ostream stream(text);
    if (isOn_)
      llvm::timeTraceProfilerWrite(stream);
    return text.str().str();
  }

private:
  const bool isOn_;
};

} // namespace mneme::compile
