// Room core/base: the directory that relative paths in settings start from.
#pragma once

#include <filesystem>

#include "runtime/core/base/environment.h"

namespace mneme {

/// Returns the working directory at the program's start if it was kept, else the present one; empty
/// if there is none.
inline std::filesystem::path startDirectory() {
  std::error_code error;
  return keptEnvironment.directory ? std::filesystem::path(keptEnvironment.directory)
                                   : std::filesystem::current_path(error);
}

} // namespace mneme
