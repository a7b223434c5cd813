// Room passes: device side. Optimises kernels with their own pipelines in an ahead-of-time build:
// each is optimised separately from its unit, and the result replaces the output of the ordinary
// pipeline.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/PassManager.h>

#include <string>

#include "passes/build_facts.h"

namespace mneme::passes {

/// Runs `pipeline` (in the syntax of LLVM's `-passes`, plus `mneme-unroll<N>`) on a copy of
/// `kernel` and everything it uses, exactly as a tuned run does. Keeps the result in the module,
/// hidden from other passes, until placeTunedBodies(). Call it before the ordinary pipeline.
/// Returns "", or the reason why the pipeline is unknown to this LLVM, fails or crashes; then
/// nothing has changed. Does not detect a pipeline that never ends.
std::string prepareTunedBody(llvm::Function& kernel, llvm::StringRef pipeline,
                             const BuildFacts& build);

/// Replaces the kernels' own code with the results of prepareTunedBody() and removes what only the
/// replaced code needed. Call it after the ordinary pipeline; without this call the kernels keep
/// their ordinary code. Returns whether the module changed.
bool placeTunedBodies(llvm::Module& module);

class PlaceTunedBodiesPass : public llvm::PassInfoMixin<PlaceTunedBodiesPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&);
  static bool isRequired() { return true; }
};

} // namespace mneme::passes
