// A value in code that is being written.
#pragma once

#include "proteus/Frontend/IRType.h"

#include <string>

namespace proteus {

/// Belongs to the builder that made it and lives as long.
struct IRValue {
  std::string Name; ///< as an instruction refers to it
  IRType Type;
};

} // namespace proteus
