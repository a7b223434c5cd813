// Room jit: the pass plugins that the program's marked code is compiled with.
#pragma once

#include <string>
#include <vector>

#include "runtime/compiler/service/client.h"

namespace mneme::jit {

/// A list of plugins. There is one object per list that ever existed; it lives as long as the
/// process.
struct PassPlugins {
  std::string pipelines; ///< each after a comma
  std::vector<compile::PassPlugin> plugins;
};

/// Returns the plugins that the program has registered so far; null if there are none. Reads each
/// file once. Thread-safe.
const PassPlugins* presentPassPlugins();

/// Appends the passes of the plugins to a request's own.
void addPassPlugins(compile::Request& request, const PassPlugins& plugins);

/// Ends the program if `error`, from compiling marked code, says that a plugin cannot be loaded or
/// that the pipeline is invalid.
void refuseUnusable(const compile::Request& request, const std::exception& error);

/// Writes to stdout what plugins have printed, without stdio's buffer. This is where the text would
/// appear if LLVM ran in this process.
void passOnPrinted(const std::string& text) noexcept;

} // namespace mneme::jit
