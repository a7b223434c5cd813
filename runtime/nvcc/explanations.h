// Room nvcc: clang's errors whose cause is not in the source: a header that the toolkit lacks, an
// option of nvcc, a language too old for CUDA's headers.
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

/// The words of a compiler's command that find its headers again, write nothing and print errors
/// alone; empty where that is not possible.
std::vector<std::string> preprocessingWords(const std::vector<std::string>& words);

/// Runs a compiler's command, whose messages are its own, and explains them behind them where we
/// know more. Returns the command's exit status. `bin` is where the wrappers are.
int compileAndExplain(const std::vector<std::string>& words, const std::filesystem::path& bin);

} // namespace mneme::nvcc
