// Room compiler: modules of MLIR, which LLVM's own programs lower to LLVM IR.
#pragma once

#include <string>

#include "runtime/compiler/service/client.h"

namespace mneme::compile {

/// Text of LLVM IR, made of the first module as Request::mlir says. Messages of the programs name
/// lines of that module.
/// \throws Error{CompileFailed} with the programs' words, or with a sentence where code for a GPU
/// is not one top-level gpu.module
std::string lowerMlir(const Request& request);

/// Compiles the result of lowerMlir().
Result compileMlir(const Request& request);

} // namespace mneme::compile
