// Room compiler: generates machine code from final IR.
#pragma once

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/CodeGen.h>
#include <llvm/Target/TargetMachine.h>

#include <string>

#include "runtime/compiler/diagnostics.h"

namespace mneme::compile {

/// Runs the code generator; `library` is what LLVM may assume about library functions
/// (target_library.h). Changes `module`, which cannot be used for code generation again.
/// \throws Error{CompileFailed} with LLVM's message.
std::string emitCode(llvm::Module& module, llvm::TargetMachine& machine,
                     llvm::CodeGenFileType fileType, const Diagnostics& diagnostics,
                     const llvm::TargetLibraryInfoImpl& library);
/// The same with the library functions of kernels.
std::string emitCode(llvm::Module& module, llvm::TargetMachine& machine,
                     llvm::CodeGenFileType fileType, const Diagnostics& diagnostics);

} // namespace mneme::compile
