#include "runtime/compiler/ir/pipeline_runner.h"

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Support/TimeProfiler.h>

#include "runtime/compiler/ir/local_constants.h"
#include "runtime/compiler/ir/opt_bisect.h"
#include "runtime/compiler/ir/structurize_needs.h"
#include "runtime/compiler/ir/target_library.h"
#include "runtime/compiler/ir/unroll_pass.h"

namespace mneme::ir {

llvm::Expected<llvm::ModulePassManager> parsePipeline(llvm::PassBuilder& builder,
                                                      llvm::StringRef passes) {
  llvm::ModulePassManager manager;
  registerUnrollPass(builder);
  registerStructurizeNeeds(builder);
  registerOptBisect(builder);
  if (passes.trim().empty())
    return manager;
  // Errors refer to the text as the user gave it.
  llvm::ModulePassManager asGiven;
  if (llvm::Error error = builder.parsePassPipeline(asGiven, passes))
    return error;
  if (llvm::Error error = builder.parsePassPipeline(manager, withWhatPassesNeed(passes)))
    return error;
  return manager;
}

PipelineRunner::PipelineRunner(llvm::TargetMachine& machine,
                               const llvm::PipelineTuningOptions& tuning)
    : PipelineRunner(machine, tuning, targetLibraryOf(machine.getTargetTriple())) {}

PipelineRunner::PipelineRunner(llvm::TargetMachine& machine,
                               const llvm::PipelineTuningOptions& tuning,
                               llvm::TargetLibraryInfoImpl library)
    : optnone_(/*DebugLogging=*/false), builder_(&machine, tuning, std::nullopt, &callbacks_) {
  optnone_.registerCallbacks(callbacks_);
  if (llvm::timeTraceProfilerEnabled())
    timing_.registerCallbacks(callbacks_);
  functions_.registerPass(
      [library = std::move(library)] { return llvm::TargetLibraryAnalysis(library); });
}

// Not in the constructor: callers may have registered analyses with the builder since.
void PipelineRunner::registerAnalyses() {
  builder_.registerModuleAnalyses(modules_);
  builder_.registerCGSCCAnalyses(callGraph_);
  builder_.registerFunctionAnalyses(functions_);
  builder_.registerLoopAnalyses(loops_);
  builder_.crossRegisterProxies(loops_, functions_, callGraph_, modules_);
}

void PipelineRunner::run(llvm::Module& module, llvm::ModulePassManager passes) {
  registerAnalyses();
  passes.run(module, modules_);
}

llvm::Error PipelineRunner::run(llvm::Module& module, llvm::StringRef passes) {
  registerAnalyses();
  llvm::Expected<llvm::ModulePassManager> manager = parsePipeline(builder_, passes);
  if (!manager)
    return manager.takeError();
  manager->run(module, modules_);
  copyConstantsReadAsLocal(module);
  return llvm::Error::success();
}

} // namespace mneme::ir
