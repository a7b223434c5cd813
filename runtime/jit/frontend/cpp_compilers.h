// Room jit/frontend: command lines that compile source text given at run time.
#pragma once

#include <string>
#include <vector>

#include "include/proteus/CppJitCompilerBackend.h"
#include "include/proteus/Frontend/TargetModel.h"

namespace proteus {

/// Returns program and arguments, without input and output. Clang for host, cuda and hip writes
/// unoptimised LLVM bitcode; all others write a shared object, or (nvcc, cuda) a cubin. `arch`:
/// "sm_90", "gfx90a".
/// \throws mneme::Error{NotFound} naming the variable that names no compiler
std::vector<std::string> compilerFor(TargetModelType target, CppJitCompilerBackend backend,
                                     const std::string& arch,
                                     const std::vector<std::string>& extra);

/// \throws mneme::Error{NotFound} naming the variable that names no program
void requireCompiler(const std::vector<std::string>& words);

} // namespace proteus
