// Room passes: how the program at hand is compiled, as far as the compiler tells a plugin.
#pragma once

#include <llvm/Passes/PassBuilder.h>

#include <optional>
#include <string>
#include <vector>

#include "passes/compiler_arguments.h"
#include "runtime/ir/pipeline_tuning.h"

namespace mneme::passes {

struct BuildFacts {
  std::string optLevel; ///< "0".."3", "s" or "z"; empty: unknown
  /// Multiplications and additions are fused whatever flags and pragmas say (-ffp-contract=fast,
  /// the default of CUDA), as opposed to where flags allow it. None: unknown.
  std::optional<bool> fusesEverywhere;
  ir::LoopChoices loops;
  /// What was given with -mllvm ("name=value", "name"), but for what clang gives by itself and for
  /// options of ours.
  std::vector<std::string> llvmOptions;
  AssemblerFacts assembler;
  /// Local variables that are read before they are set keep what they have: the command line says
  /// what becomes of them (-ftrivial-auto-var-init=...), or nothing of ours has looked at them.
  bool leavesUnset = true;
};

/// Describes the pipeline that `builder` makes for `level`.
BuildFacts factsOf(const llvm::PassBuilder& builder, llvm::OptimizationLevel level);

} // namespace mneme::passes
