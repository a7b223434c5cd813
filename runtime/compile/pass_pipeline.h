// Room compile: LLVM pass pipelines given as text.
#pragma once

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Target/TargetMachine.h>

#include <string>

namespace mneme::compile {

class FunctionPointers;

/// Runs `passes` on `module` for `machine`, then verifies the module. An empty pipeline does
/// nothing. `tuning` as tuningFor() gives it; `pointers`: what the module was detached with, if it
/// was.
/// \throws Error{InvalidArgument} naming the offending pass, Error{CompileFailed} when a pass
/// leaves invalid IR behind.
void runPasses(llvm::Module& module, llvm::TargetMachine& machine, const std::string& passes,
               const llvm::PipelineTuningOptions& tuning,
               const FunctionPointers* pointers = nullptr);
/// For what LLVM may assume of `library`; the former has that of kernels (target_library.h).
void runPasses(llvm::Module& module, llvm::TargetMachine& machine, const std::string& passes,
               const llvm::PipelineTuningOptions& tuning, const FunctionPointers* pointers,
               const llvm::TargetLibraryInfoImpl& library);

/// \throws Error{InvalidArgument} naming the offending pass.
void checkPassPipeline(const std::string& passes);

} // namespace mneme::compile
