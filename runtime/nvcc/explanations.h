// Room nvcc: what is known of clang's errors: a header that the toolkit lacks, an option of nvcc, a
// language too old for CUDA's headers, or source that clang does not take (source_errors.h).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/nvcc/toolkit.h"

namespace mneme::nvcc {

/// A sentence on the options of nvcc among those that clang does not know; empty where there are
/// none.
std::string explainOptions(std::string_view messages, const std::filesystem::path& bin);

/// A sentence where a header of CUDA's asks for a newer C++ than the command line; else empty.
std::string explainLanguage(std::string_view messages, const std::vector<std::string>& words,
                            const Toolkit& toolkit);

/// Returns a sentence if the words ask for OpenMP, clang has no runtime of it, and the messages
/// show that this is what failed: the linker misses the runtime, or the preprocessor its header.
/// Else empty. `library` is the path at which clang finds the runtime, or its name alone.
std::string explainOpenMp(std::string_view messages, const std::vector<std::string>& words,
                          std::string_view library);

/// The words of a compiler's command with which it goes no further than `phase`, writes nothing and
/// prints errors alone; empty where that is not possible.
std::vector<std::string> checkingWords(const std::vector<std::string>& words,
                                       const std::string& phase);

/// Runs a compiler's command, whose messages are its own, and explains them behind them where we
/// know more. Returns the command's exit status. `bin` is where the wrappers are.
int compileAndExplain(const std::vector<std::string>& words, const std::filesystem::path& bin);

} // namespace mneme::nvcc
