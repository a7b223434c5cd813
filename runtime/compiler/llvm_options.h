// Room compiler: sets process-wide options of LLVM (-mllvm) as in the program's build.
#pragma once

#include <string>
#include <vector>

#include "runtime/compiler/fatal_guard.h"

namespace mneme::compile {

/// While it lives, exactly these options of LLVM are set; compilations with others wait. Recordings
/// are not trusted: only numbers and booleans are set, and nothing that prints or names files. Make
/// it on the thread that compiles.
class LlvmOptions {
public:
  /// `options` are "name=value" or "name".
  explicit LlvmOptions(std::vector<std::string> options);
  ~LlvmOptions();
  LlvmOptions(const LlvmOptions&) = delete;
  LlvmOptions& operator=(const LlvmOptions&) = delete;

  /// The options that this LLVM does not have, or that are not set.
  const std::vector<std::string>& refused() const { return refused_; }

private:
  static void release(void*);

  std::vector<std::string> refused_;
  FatalCleanup cleanup_{release, nullptr};
};

} // namespace mneme::compile
