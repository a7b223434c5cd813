// Room ir: what clang chooses beside a pipeline's name. LLVM's own `default<O3>`
// is not clang's -O3 without it.
#pragma once

#include <llvm/ADT/StringRef.h>
#include <llvm/Passes/PassBuilder.h>

#include <optional>

namespace mneme::ir {

/// clang's level of code generation, "0" to "3", for what stands behind its -O.
llvm::StringRef codegenLevelOf(llvm::StringRef level);

/// Choices that differ from clang's for the level; none: as the level has it.
struct LoopChoices {
  std::optional<bool> unroll;       ///< -f[no-]unroll-loops
  std::optional<bool> interleave;   ///< -f[no-]interleave-loops
  std::optional<bool> vectorize;    ///< -f[no-]vectorize
  std::optional<bool> vectorizeSlp; ///< -f[no-]slp-vectorize
};

/// What clang sets for a level as in "-O<level>": "0".."3", "s" or "z".
llvm::PipelineTuningOptions clangTuning(llvm::StringRef level);

/// How `tuning` differs from clangTuning(level).
LoopChoices choicesIn(const llvm::PipelineTuningOptions& tuning, llvm::StringRef level);

/// A pipeline that names a level ("default<O2>", "thinlto-pre-link<Os>") gets clang's choices for
/// that level, and `choices` if it is the program's, `programLevel`. Others get LLVM's defaults.
llvm::PipelineTuningOptions tuningFor(llvm::StringRef passes, llvm::StringRef programLevel,
                                      const LoopChoices& choices);

} // namespace mneme::ir
