// Room passes: how the current program is compiled, as far as a compiler plugin can find out.
#pragma once

#include <llvm/Passes/PassBuilder.h>

#include <optional>
#include <string>
#include <vector>

#include "passes/compiler_arguments.h"
#include "passes/debug_level.h"
#include "runtime/compiler/ir/pipeline_tuning.h"

namespace mneme::passes {

struct BuildFacts {
  std::string optLevel; ///< "0".."3", "s" or "z"; empty: unknown
  /// True if multiplications and additions are fused everywhere (-ffp-contract=fast, the default
  /// for CUDA), false if only where instruction flags allow it. None: unknown.
  std::optional<bool> fusesEverywhere;
  ir::LoopChoices loops;
  /// The options given with -mllvm ("name=value" or "name"), without those that clang adds itself
  /// and those of mneme.
  std::vector<std::string> llvmOptions;
  AssemblerFacts assembler;
  DebugLevel debugLevel = DebugLevel::Full; ///< of device code
  /// Uninitialised local variables are left alone, because the command line determines their
  /// content (-ftrivial-auto-var-init=...) or because mneme's pass for them did not run.
  bool leavesUnset = true;
};

/// Describes the pipeline that `builder` builds for `level`.
BuildFacts factsOf(const llvm::PassBuilder& builder, llvm::OptimizationLevel level);

} // namespace mneme::passes
