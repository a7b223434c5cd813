// Room compiler: answers questions of the device library about how a unit was compiled.
#pragma once

#include <llvm/IR/Module.h>

namespace mneme::compile {

/// Units of one program may be compiled with and without -fgpu-flush-denormals-to-zero, but a
/// linked module can state only one of them. If the two differ, the questions in both are answered
/// before linking.
void answerBeforeLinking(llvm::Module& first, llvm::Module& second);

} // namespace mneme::compile
