// Room nvcc: programs that are started, one after the other.
#pragma once

#include <string>
#include <vector>

namespace mneme::nvcc {

/// A program with its arguments, and the variables that are set for it ("NAME=value").
struct Command {
  std::vector<std::string> words;
  std::vector<std::string> variables = {};
};

/// Words as a shell reads them: with quotes where they are needed.
std::string shellText(const std::vector<std::string>& words);

/// The command as a line of a shell script.
std::string shellText(const Command& command);

/// Runs a command to its end. Its status: 127 if it cannot be started, 128 + N if signal N ended
/// it.
int run(const Command& command);

/// What a command writes to its standard output; empty if it cannot be started. Its errors are
/// dropped.
std::string outputOf(const Command& command);

/// What a command writes to its standard error; its output is dropped.
std::string errorsOf(const Command& command);

} // namespace mneme::nvcc
