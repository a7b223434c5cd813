// Room compile: machine code from final IR.
#pragma once

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/CodeGen.h>
#include <llvm/Target/TargetMachine.h>

#include <string>

#include "runtime/compile/diagnostics.h"

namespace mneme::compile {

/// Runs the code generator, for what LLVM may assume of `library` (target_library.h); `module` is
/// changed by it and of no further use for code generation.
/// \throws Error{CompileFailed} with LLVM's message.
std::string emitCode(llvm::Module& module, llvm::TargetMachine& machine,
                     llvm::CodeGenFileType fileType, const Diagnostics& diagnostics,
                     const llvm::TargetLibraryInfoImpl& library);
/// With the library of kernels.
std::string emitCode(llvm::Module& module, llvm::TargetMachine& machine,
                     llvm::CodeGenFileType fileType, const Diagnostics& diagnostics);

} // namespace mneme::compile
