// Types of the embedded language in the words of LLVM.
#pragma once

#include "proteus/Frontend/IRType.h"
#include "proteus/Frontend/TargetModel.h"

#include <string>

namespace proteus {

/// `i32`, `ptr addrspace(3)`, `[16 x double]`.
PROTEUS_API std::string toLLVMType(const IRType& Type);

} // namespace proteus
