// Room passes: runs a tuned pipeline inside the compiler, shielded from its failures.
#pragma once

#include <llvm/ADT/StringRef.h>

#include <string>
#include <vector>

#include "passes/shielded.h"
#include "runtime/ir/pipeline_tuning.h"

namespace mneme::passes {

/// A pipeline for a closure.
struct TunedPipeline {
  std::string passes;
  std::vector<std::string> ownFunctions; ///< as ownFunctions() of kernel_metadata.h gives them
  std::string programLevel;              ///< what the program's own pipeline is: BuildFacts
  ir::LoopChoices programLoops;
};

/// Replaces a kernel's closure, as bitcode, by what `pipeline` makes of it, as in a tuned run;
/// everything left but `kernel` is internal. Returns "", or what went wrong in the words of LLVM, a
/// crash included; `closure` stays then as it was.
std::string optimizeClosure(Bitcode& closure, llvm::StringRef kernel,
                            const TunedPipeline& pipeline);

} // namespace mneme::passes
