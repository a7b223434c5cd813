#include "runtime/nvcc/host_compiler.h"

#include <filesystem>

#include "runtime/nvcc/command.h"
#include "runtime/nvcc/command_line.h"

namespace mneme::nvcc {

std::vector<std::string> mpiWords(const std::string& compiler) {
  if (!std::filesystem::path(compiler).filename().string().starts_with("mpi"))
    return {};
  // MPICH and what is made of it, and Open MPI: the command that would be run.
  std::vector<std::string> words;
  for (const std::string& word : splitWords(outputOf({{compiler, "-show"}})))
    for (const char* const wanted : {"-I", "-L", "-l", "-Wl,", "-D", "-pthread"})
      if (word.starts_with(wanted))
        words.push_back(word);
  return words;
}

} // namespace mneme::nvcc
