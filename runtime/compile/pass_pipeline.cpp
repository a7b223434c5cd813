#include "runtime/compile/pass_pipeline.h"

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/PassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/StandardInstrumentations.h>
#include <llvm/Support/raw_ostream.h>

#include <mutex>
#include <set>

#include "runtime/compile/diagnostics.h"
#include "runtime/compile/module/function_pointers.h"
#include "runtime/ir/compat.h"
#include "runtime/ir/target_library.h"
#include "runtime/ir/unroll_pass.h"

namespace mneme::compile {
namespace {

constexpr size_t kMaxRememberedPipelines = 4096;

bool isBlank(const std::string& text) {
  return text.find_first_not_of(" \t\n") == std::string::npos;
}

llvm::ModulePassManager parse(llvm::PassBuilder& builder, const std::string& passes) {
  llvm::ModulePassManager manager;
  ir::registerUnrollPass(builder);
  if (!isBlank(passes))
    orThrow(builder.parsePassPipeline(manager, passes), ErrorCode::InvalidArgument,
            "invalid pass pipeline '" + passes + "'");
  return manager;
}

} // namespace

void runPasses(llvm::Module& module, llvm::TargetMachine& machine, const std::string& passes,
               const llvm::PipelineTuningOptions& tuning, const FunctionPointers* pointers) {
  runPasses(module, machine, passes, tuning, pointers,
            ir::targetLibraryOf(machine.getTargetTriple()));
}

void runPasses(llvm::Module& module, llvm::TargetMachine& machine, const std::string& passes,
               const llvm::PipelineTuningOptions& tuning, const FunctionPointers* pointers,
               const llvm::TargetLibraryInfoImpl& library) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  // Passes look at `optnone` only if somebody asks them to.
  llvm::PassInstrumentationCallbacks callbacks;
  llvm::OptNoneInstrumentation optnone(/*DebugLogging=*/false);
  optnone.registerCallbacks(callbacks);
  llvm::PassBuilder builder(&machine, tuning, std::nullopt, &callbacks);
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);

  if (pointers)
    pointers->registerFolding(builder);
  llvm::ModulePassManager manager = parse(builder, passes);
  manager.run(module, modules);

  std::string message;
  llvm::raw_string_ostream stream(message);
  if (llvm::verifyModule(module, &stream))
    throw Error(ErrorCode::CompileFailed,
                "pass pipeline '" + passes + "' left invalid IR behind: " + message);
}

void checkPassPipeline(const std::string& passes) {
  // Building a pipeline to see that it can be built takes as long as running it on a small kernel.
  static std::mutex mutex;
  static auto& known = *new std::set<std::string>; // static destructors may compile
  {
    const std::lock_guard lock(mutex);
    if (known.contains(passes))
      return;
  }
  llvm::PassBuilder builder;
  parse(builder, passes);
  const std::lock_guard lock(mutex);
  if (known.size() < kMaxRememberedPipelines)
    known.insert(passes);
}

} // namespace mneme::compile
