// Room compile: options of LLVM that hold for the whole process (-mllvm), as a program had them.
#pragma once

#include <string>
#include <vector>

#include "runtime/compile/fatal_guard.h"

namespace mneme::compile {

/// While it lives, LLVM's options are these and no others: compilations with other ones wait.
/// Recordings are not trusted: only numbers and truth values are set, and nothing that prints or
/// names files. Has to be made on the thread that compiles.
class LlvmOptions {
public:
  /// `options` are "name=value" or "name".
  explicit LlvmOptions(std::vector<std::string> options);
  ~LlvmOptions();
  LlvmOptions(const LlvmOptions&) = delete;
  LlvmOptions& operator=(const LlvmOptions&) = delete;

  /// Those of `options` that this LLVM does not have, or that are not set.
  const std::vector<std::string>& refused() const { return refused_; }

private:
  static void release(void*);

  std::vector<std::string> refused_;
  FatalCleanup cleanup_{release, nullptr};
};

} // namespace mneme::compile
