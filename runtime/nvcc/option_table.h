// Room nvcc: the options that NVIDIA documents for nvcc ("NVIDIA CUDA Compiler Driver", and what
// `nvcc --help` prints), each with what becomes of it. `mneme-nvcc --help` and docs/nvcc.md show
// this table.
#pragma once

#include <span>
#include <string_view>

namespace mneme::nvcc {

enum class Takes {
  Nothing,
  One,   ///< one value: behind '=' or in the next word
  List,  ///< several, with commas between; may be given again
  Whole, ///< one value that may be given again, commas included
  Truth, ///< true or false
};

enum class Becomes {
  Words,   ///< what clang is given, for each value; '%' stands for it
  Handled, ///< translation.cpp does more than to replace words
  Ignored, ///< nothing, for the reason in `text`
  Refused, ///< an error, for the reason in `text`
};

/// What may follow the brief name without anything between.
enum class Joins { Nothing, Number, Anything };

struct Option {
  std::string_view name;  ///< with two hyphens, or empty
  std::string_view brief; ///< with one
  Takes takes;
  Becomes becomes;
  std::string_view text;
  Joins joins = Joins::Nothing;
};

std::span<const Option> options() noexcept;

/// The option of one of its two names; null if there is none.
const Option* findOption(std::string_view name) noexcept;

/// "taken", "ignored" or "refused".
std::string_view fate(const Option& option) noexcept;

} // namespace mneme::nvcc
