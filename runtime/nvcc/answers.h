// Room nvcc: what nvcc prints of itself, which build systems read.
#pragma once

#include <string>

#include "runtime/nvcc/plan.h"
#include "runtime/nvcc/settings.h"

namespace mneme::nvcc {

/// The table of options, each with what becomes of it.
std::string helpText();

/// The toolkit's release in the words that CMake, autotools and Makefiles look for.
std::string versionText(const Toolkit& toolkit);

/// The answer to `--list-gpu-code`, `--list-gpu-arch` or both.
std::string architecturesText(Question question, unsigned toolkit);

/// The lines that nvcc prints before its commands with `--verbose` and `--dryrun`. CMake takes
/// directories, architectures and the linker from them.
std::string settingsText(const Place& place, const Targets& targets);

} // namespace mneme::nvcc
