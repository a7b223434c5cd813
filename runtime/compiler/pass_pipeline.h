// Room compiler: runs LLVM pass pipelines given as text.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Target/TargetMachine.h>

#include <string>

#include "runtime/compiler/pass_plugins.h"

namespace mneme::compile {

/// Registers what a pipeline needs in addition to LLVM's own passes.
using Preparation = llvm::function_ref<void(llvm::PassBuilder&)>;

/// Runs `passes` on `module` for `machine`, then verifies the module. An empty pipeline does
/// nothing. `tuning` as tuningFor() gives it.
/// \throws Error{InvalidArgument} naming the offending pass, Error{CompileFailed} when a pass
/// leaves invalid IR behind.
void runPasses(llvm::Module& module, llvm::TargetMachine& machine, const std::string& passes,
               const llvm::PipelineTuningOptions& tuning, Preparation prepare = nullptr);
/// The same with `library` as LLVM's library functions; the overload above uses those of kernels
/// (target_library.h).
void runPasses(llvm::Module& module, llvm::TargetMachine& machine, const std::string& passes,
               const llvm::PipelineTuningOptions& tuning, Preparation prepare,
               const llvm::TargetLibraryInfoImpl& library);

/// \throws Error{InvalidArgument} naming the offending pass.
void checkPassPipeline(const std::string& passes);
/// The same, where plugins bring passes of their own.
void checkPassPipeline(const std::string& passes, const PassPlugins& plugins);

} // namespace mneme::compile
