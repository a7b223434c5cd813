// Room compiler/ir: runs a pass pipeline as clang does.
#pragma once

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/StandardInstrumentations.h>
#include <llvm/Support/Error.h>
#include <llvm/Target/TargetMachine.h>

namespace mneme::ir {

/// Returns the passes of a pipeline's text, including mneme's own; none for blank text. Passes that
/// `structurizecfg` relies on are added before it.
llvm::Expected<llvm::ModulePassManager> parsePipeline(llvm::PassBuilder& builder,
                                                      llvm::StringRef passes);

/// Runs pipelines that skip functions with `optnone` and know the library functions of
/// targetLibraryOf(). `machine` must outlive it.
class PipelineRunner {
public:
  PipelineRunner(llvm::TargetMachine& machine, const llvm::PipelineTuningOptions& tuning);
  /// The same with other library functions, such as the host's.
  PipelineRunner(llvm::TargetMachine& machine, const llvm::PipelineTuningOptions& tuning,
                 llvm::TargetLibraryInfoImpl library);

  /// Accepts the caller's own passes and analyses; register them before run().
  llvm::PassBuilder& builder() { return builder_; }
  /// Returns an error, with the module unchanged, if the text is not a pipeline.
  llvm::Error run(llvm::Module& module, llvm::StringRef passes);
  /// Runs passes that are no text, on a runner of their own.
  void run(llvm::Module& module, llvm::ModulePassManager passes);

private:
  void registerAnalyses();

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
