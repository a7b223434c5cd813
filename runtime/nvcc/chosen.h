// Room nvcc: what programs are built for that nothing is chosen for on the command line.
#pragma once

#include <string>

#include "runtime/nvcc/architectures.h"

namespace mneme::nvcc {

struct Chosen {
  Targets targets;
  std::string why; ///< "the GPU at hand"
};

/// \param list  the value of CUDAARCHS, which CMake reads, too; if it is empty, the GPUs at hand
/// decide
/// \throws Error{InvalidArgument} where the value is not a list of architectures.
Chosen chosenFor(const std::string& list, unsigned toolkit);

} // namespace mneme::nvcc
