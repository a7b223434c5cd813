// Room passes: runs a tuned pipeline inside the compiler, so that its failures do not affect the
// compilation.
#pragma once

#include <llvm/ADT/StringRef.h>

#include <string>
#include <vector>

#include "passes/shielded.h"
#include "runtime/compiler/ir/pipeline_tuning.h"

namespace mneme::passes {

/// A pipeline for a closure.
struct TunedPipeline {
  std::string passes;
  std::vector<std::string> ownFunctions; ///< those of ownFunctions() in kernel_metadata.h
  std::string programLevel;              ///< level of the program's own pipeline: BuildFacts
  ir::LoopChoices programLoops;
};

/// Replaces a kernel's closure, as bitcode, with the output of `pipeline`, as in a tuned run.
/// Afterwards everything except `kernel` is internal. Returns "" or LLVM's description of the
/// failure, including crashes; `closure` is then unchanged.
std::string optimizeClosure(Bitcode& closure, llvm::StringRef kernel,
                            const TunedPipeline& pipeline);

} // namespace mneme::passes
