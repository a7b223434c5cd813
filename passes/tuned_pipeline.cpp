#include "passes/tuned_pipeline.h"

#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "runtime/compiler/ir/line_directives.h"
#include "runtime/compiler/ir/pipeline_runner.h"
#include "runtime/compiler/ir/prune.h"

namespace mneme::passes {
namespace {

/// The unit has functions of the same names.
void hideFunctions(llvm::Module& module, const llvm::Function& kernel) {
  ir::eraseUncalled(module, kernel);
  for (llvm::Function& function : module)
    if (!function.isDeclaration() && &function != &kernel)
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
}

std::string optimize(llvm::Module& module, llvm::TargetMachine& machine, llvm::StringRef kernel,
                     const TunedPipeline& pipeline, Bitcode& result) {
  llvm::Function& function = *module.getFunction(kernel);
  ir::internalizeExcept(module, function, pipeline.ownFunctions);
  ir::keepLineDirectives(module);
  ir::PipelineRunner runner(
      machine, ir::tuningFor(pipeline.passes, pipeline.programLevel, pipeline.programLoops));
  if (llvm::Error error = runner.run(module, pipeline.passes))
    return llvm::toString(std::move(error));
  hideFunctions(module, function);
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  if (llvm::verifyModule(module, &stream))
    return errors.empty() ? "it leaves invalid code behind" : errors;
  llvm::raw_svector_ostream output(result);
  llvm::WriteBitcodeToFile(module, output, /*ShouldPreserveUseListOrder=*/true);
  return {};
}

} // namespace

std::string optimizeClosure(Bitcode& closure, llvm::StringRef kernel,
                            const TunedPipeline& pipeline) {
  Bitcode result;
  std::string problem =
      runShielded(closure, [&](llvm::Module& module, llvm::TargetMachine& machine) {
        return optimize(module, machine, kernel, pipeline, result);
      });
  if (problem.empty())
    closure = std::move(result);
  return problem;
}

} // namespace mneme::passes
