// Room nvcc: a command line as nvcc reads it, before anything is translated.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/nvcc/option_table.h"

namespace mneme::nvcc {

/// One option with its values, an input (`option` is null), or an option that nvcc does not have
/// (`isUnknown`). `text` is the input's name, or the option as it was written.
struct Item {
  const Option* option = nullptr;
  std::vector<std::string> values;
  std::string text;
  bool isUnknown = false;
};

/// Splits text into words as a shell does: blanks divide, quotes and backslashes keep together.
std::vector<std::string> splitWords(std::string_view text);

/// Splits a list with commas. Quotes and backslashes keep commas; they stay, since what is behind
/// them may be for another reader.
std::vector<std::string> splitList(std::string_view text);

/// The items of a command line, in its order, with the words of response files (`@file`,
/// `--options-file file`) in their place.
/// \throws Error{InvalidArgument} where a value is missing or wrong, or a file cannot be read.
std::vector<Item> parseCommandLine(const std::vector<std::string>& words);

} // namespace mneme::nvcc
