// Room base: where relative paths start that the user gave who started the program.
#pragma once

#include <filesystem>

#include "runtime/base/environment.h"

namespace mneme {

/// The working directory that is kept, else the present one; empty if there is none.
inline std::filesystem::path startDirectory() {
  std::error_code error;
  return keptEnvironment.directory ? std::filesystem::path(keptEnvironment.directory)
                                   : std::filesystem::current_path(error);
}

} // namespace mneme
