// Room nvcc: headers of CUDA that a program includes and its toolkit lacks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/nvcc/toolkit.h"

namespace mneme::nvcc {

/// The header that clang did not find, as its messages say; empty where it found all.
std::string missingHeader(std::string_view messages);

/// A sentence that says where the header comes from; empty where it is none that we know.
std::string sourceOfHeader(const std::string& header, const Toolkit& toolkit);

/// The words of a compiler's command that find its headers again, write nothing and print errors
/// alone; empty where that is not possible.
std::vector<std::string> preprocessingWords(const std::vector<std::string>& words);

/// Runs a compiler's command, whose messages are its own, and says behind them where a header that
/// is missing comes from. Returns the command's exit status. `bin` is where the wrappers are.
int compileAndExplain(const std::vector<std::string>& words, const std::filesystem::path& bin);

} // namespace mneme::nvcc
