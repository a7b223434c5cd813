// Room passes: device side. Kernels that get a pipeline of their own ahead of time: each is
// optimised apart from its unit, and the result takes the place of what the ordinary pipeline makes
// of it.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/PassManager.h>

#include <string>

#include "passes/build_facts.h"

namespace mneme::passes {

/// Runs `pipeline`, as LLVM's `-passes` and with `mneme-unroll<N>`, on a copy of `kernel` and what
/// it reaches, exactly as a tuned run does, and keeps the result in the module, where no pass
/// looks, until placeTunedBodies(). Call it before the ordinary pipeline. Returns "", or why this
/// cannot be: the pipeline is unknown to this LLVM, fails or crashes; then nothing changed. An
/// endless pipeline is not noticed.
std::string prepareTunedBody(llvm::Function& kernel, llvm::StringRef pipeline,
                             const BuildFacts& build);

/// Puts what prepareTunedBody() kept in the place of the kernels' own code; what only that code
/// needed goes. Call it after the ordinary pipeline; where nobody calls it the kernels stay
/// ordinary. Returns whether the module changed.
bool placeTunedBodies(llvm::Module& module);

class PlaceTunedBodiesPass : public llvm::PassInfoMixin<PlaceTunedBodiesPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&);
  static bool isRequired() { return true; }
};

} // namespace mneme::passes
