// Room compile: what the device library asks how a unit was compiled.
#pragma once

#include <llvm/IR/Module.h>

namespace mneme::compile {

/// Units of one program may be compiled with and without -fgpu-flush-denormals-to-zero; linked, a
/// module says one of it. Where the two differ, the questions of both are answered beforehand.
void answerBeforeLinking(llvm::Module& first, llvm::Module& second);

} // namespace mneme::compile
