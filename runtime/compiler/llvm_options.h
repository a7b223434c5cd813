// Room compiler: sets process-wide options of LLVM (-mllvm) as in the program's build.
#pragma once

#include <string>
#include <vector>

#include "runtime/compiler/fatal_guard.h"

namespace mneme::compile {

/// While it lives, exactly these options of LLVM are set; compilations with others wait. Make it on
/// the thread that compiles.
class LlvmOptions {
public:
  /// \param recorded  "name=value" or "name". Recordings are not trusted: only numbers and booleans
  ///                  are set, and nothing that prints or names files.
  /// \param asked     what the user asks for: such words, divided by blanks, with or without dashes
  ///                  before them. They count where `recorded` says something else.
  /// \throws Error{InvalidArgument} naming the one of `asked` that this LLVM, with the plugins that
  ///         are loaded, does not have, or whose value it does not take
  LlvmOptions(std::vector<std::string> recorded, const std::string& asked);
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
