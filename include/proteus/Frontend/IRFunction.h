// What is known of a function besides its code.
#pragma once

#include "proteus/Frontend/IRType.h"

#include <string>
#include <vector>

namespace proteus {

struct IRFunction {
  std::string Name;
  IRType ReturnType;
  std::vector<IRType> ArgTypes;
  bool IsKernel = false;
  int MaxThreads = 0; ///< of a block, 0: not given
  int MinBlocks = 0;  ///< per multiprocessor, 0: not given
};

} // namespace proteus
