// Room nvcc: the commands that do what a command line asks for.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/nvcc/command.h"
#include "runtime/nvcc/settings.h"
#include "runtime/nvcc/toolkit.h"

namespace mneme::nvcc {

/// What a plan is made for.
struct Place {
  std::filesystem::path prefix; ///< mneme's: bin/mneme-cxx, include/mneme, lib
  std::filesystem::path folder; ///< for files that are needed until the end; it need not exist yet
  Toolkit toolkit;
  std::vector<std::string> hostWords = {}; ///< what an MPI compiler adds, for each step
  bool instruments = true;                 ///< unless MNEME_INSTRUMENT is 0
};

struct Plan {
  std::vector<Command> commands;
  bool needsFolder = false;
};

/// \throws Error{InvalidArgument} where the settings do not go together.
Plan makePlan(const Settings& settings, const Place& place);

} // namespace mneme::nvcc
