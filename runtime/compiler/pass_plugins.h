// Room compiler: LLVM pass plugins that a program adds to the passes of its own code. They are
// built with headers of LLVM, so they work in the variant of the library that shares LLVM with them
// (libmneme_compile_plugins.so).
#pragma once

#include <llvm/Passes/PassBuilder.h>

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/compiler/ir/compat.h"

namespace mneme::compile {

class PassPlugins {
public:
  /// \throws Error{BackendUnavailable} naming the file that is not a plugin for this LLVM.
  PassPlugins(const char* const* paths, size_t count);

  bool isEmpty() const { return plugins_.empty(); }
  void addTo(llvm::PassBuilder& builder) const;

private:
  std::vector<llvm::PassPlugin> plugins_;
};

/// While alive, captures everything that is written to stdout: by LLVM's stream, stdio and the
/// descriptor.
class CapturedStandardOutput {
public:
  CapturedStandardOutput();
  ~CapturedStandardOutput();
  CapturedStandardOutput(const CapturedStandardOutput&) = delete;
  CapturedStandardOutput& operator=(const CapturedStandardOutput&) = delete;

  /// The text written so far.
  std::string text() const;

private:
  int kept_ = -1;
  int file_ = -1;
};

} // namespace mneme::compile
