// Room passes: runs LLVM on a copy of some code inside the compiler, so that failures do not affect
// the compilation.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <string>

namespace mneme::passes {

using Bitcode = llvm::SmallVector<char, 0>;

/// Returns the module's bitcode.
Bitcode bitcodeOf(const llvm::Module& module);

/// Work on a module that has its own context. Returns "" or a description of the failure.
using ShieldedWork = llvm::function_ref<std::string(llvm::Module&, llvm::TargetMachine&)>;

/// Runs `work` on device code, for the processor that the code names. Returns "" or LLVM's
/// description of the failure, including reported errors and crashes. Warnings and remarks that
/// LLVM emits meanwhile are discarded.
std::string runShielded(const Bitcode& code, ShieldedWork work);

} // namespace mneme::passes
