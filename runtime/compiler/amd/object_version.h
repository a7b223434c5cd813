// Room compiler: which version of code objects is made of IR for AMD GPUs (LLVM, User Guide for
// AMDGPU Backend, "ELF Code Object" and "Kernel Argument Segment").
#pragma once

#include <llvm/IR/Module.h>

#include <string>

namespace mneme::compile {

/// Times 100, as the module says it, or what LLVM makes of one that does not.
unsigned objectVersionOf(const llvm::Module& module);

bool saysObjectVersion(const llvm::Module& module);

/// Makes `module` one for code objects of this version: 4, 5 or 6, or 0 for that it was built for.
/// Generic processors have version 6 only. What kernels read of the arguments behind their own is
/// laid out anew between version 4 and later ones.
/// \throws Error{InvalidArgument} for another version
/// \throws Error{Unsupported} if `cpu` has no such code objects, or a kernel reads what they do not
/// have
void chooseObjectVersion(llvm::Module& module, unsigned version, const std::string& cpu);

} // namespace mneme::compile
