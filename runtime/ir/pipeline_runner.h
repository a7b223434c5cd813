// Room ir: a pass pipeline, run as clang runs it.
#pragma once

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/StandardInstrumentations.h>
#include <llvm/Support/Error.h>
#include <llvm/Target/TargetMachine.h>

namespace mneme::ir {

/// The passes that a pipeline's text names, mneme's own among them; none for blank text. Those
/// that `structurizecfg` relies on come before it.
llvm::Expected<llvm::ModulePassManager> parsePipeline(llvm::PassBuilder& builder,
                                                      llvm::StringRef passes);

/// Runs pipelines in which functions with `optnone` are left alone and library functions are known
/// as targetLibraryOf() has them. `machine` must outlive it.
class PipelineRunner {
public:
  PipelineRunner(llvm::TargetMachine& machine, const llvm::PipelineTuningOptions& tuning);
  /// With other library functions, those of the host.
  PipelineRunner(llvm::TargetMachine& machine, const llvm::PipelineTuningOptions& tuning,
                 llvm::TargetLibraryInfoImpl library);

  /// Takes passes and analyses of the caller's own; they are registered before run().
  llvm::PassBuilder& builder() { return builder_; }
  /// An error: the text is no pipeline, and the module is as it was.
  llvm::Error run(llvm::Module& module, llvm::StringRef passes);

private:
  llvm::LoopAnalysisManager loops_;
  llvm::FunctionAnalysisManager functions_;
  llvm::CGSCCAnalysisManager callGraph_;
  llvm::ModuleAnalysisManager modules_;
  llvm::PassInstrumentationCallbacks callbacks_;
  llvm::OptNoneInstrumentation optnone_; // passes look at `optnone` only if somebody asks them to
  llvm::TimeProfilingPassesHandler timing_;
  llvm::PassBuilder builder_;
};

} // namespace mneme::ir
