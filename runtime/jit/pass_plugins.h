// Room jit: the pass plugins that what the program marks is compiled with.
#pragma once

#include <string>
#include <vector>

#include "runtime/compile/service/client.h"

namespace mneme::jit {

/// One object for each list there ever was; lives as long as the process.
struct PassPlugins {
  std::string pipelines; ///< each behind a comma
  std::vector<compile::PassPlugin> plugins;
};

/// What the program has registered now; null if nothing. Files are read the first time. Ends the
/// program if one cannot be, as the reference tool does. Thread-safe.
const PassPlugins* presentPassPlugins();

/// A request's passes are `pipeline` (empty: LLVM's own) with the plugins' behind it.
void addPassPlugins(compile::Request& request, const PassPlugins& plugins,
                    const std::string& pipeline);

/// Ends the program if `error`, of compiling what it marks, says that a plugin cannot be loaded or
/// that the pipeline is none.
void refuseUnusable(const compile::Request& request, const std::exception& error);

/// Writes what plugins have printed to stdout, past its buffer: there it would be if LLVM were in
/// this process.
void passOnPrinted(const std::string& text) noexcept;

} // namespace mneme::jit
