#include "runtime/compiler/pass_pipeline.h"

#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>

#include <mutex>
#include <optional>
#include <set>

#include "runtime/compiler/diagnostics.h"
#include "runtime/compiler/ir/pipeline_runner.h"
#include "runtime/compiler/ir/target_library.h"

namespace mneme::compile {
namespace {

constexpr size_t kMaxRememberedPipelines = 4096;

std::string invalid(const std::string& passes) {
  const llvm::StringRef level = llvm::StringRef(passes).ltrim('-');
  const bool isLevel =
      level.size() == 2 && level[0] == 'O' && llvm::StringRef("0123sz").contains(level[1]);
  return "invalid pass pipeline '" + passes + "'" +
         (isLevel ? " (this level's is default<" + level.str() + ">)" : "");
}

} // namespace

void runPasses(llvm::Module& module, llvm::TargetMachine& machine, const std::string& passes,
               const llvm::PipelineTuningOptions& tuning, Preparation prepare) {
  runPasses(module, machine, passes, tuning, prepare,
            ir::targetLibraryOf(machine.getTargetTriple()));
}

void runPasses(llvm::Module& module, llvm::TargetMachine& machine, const std::string& passes,
               const llvm::PipelineTuningOptions& tuning, Preparation prepare,
               const llvm::TargetLibraryInfoImpl& library) {
  ir::PipelineRunner runner(machine, tuning, library);
  if (prepare)
    prepare(runner.builder());
  orThrow(runner.run(module, passes), ErrorCode::InvalidArgument, invalid(passes));

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
  orThrow(ir::parsePipeline(builder, passes), ErrorCode::InvalidArgument, invalid(passes));
  const std::lock_guard lock(mutex);
  if (known.size() < kMaxRememberedPipelines)
    known.insert(passes);
}

void checkPassPipeline(const std::string& passes, const PassPlugins& plugins) {
  llvm::PassInstrumentationCallbacks callbacks; // some plugins look for them
  llvm::PassBuilder builder(nullptr, {}, std::nullopt, &callbacks);
  plugins.addTo(builder);
  orThrow(ir::parsePipeline(builder, passes), ErrorCode::InvalidArgument, invalid(passes));
}

} // namespace mneme::compile
