// Room compiler/ir: clang's settings in addition to a pipeline's name. Without them LLVM's own
// `default<O3>` differs from clang's -O3.
#pragma once

#include <llvm/ADT/StringRef.h>
#include <llvm/Passes/PassBuilder.h>

#include <optional>

namespace mneme::ir {

/// Returns clang's level of code generation, "0" to "3", for the text after its -O.
llvm::StringRef codegenLevelOf(llvm::StringRef level);

/// Choices that differ from clang's for the level; empty: those of the level.
struct LoopChoices {
  std::optional<bool> unroll;       ///< -f[no-]unroll-loops
  std::optional<bool> interleave;   ///< -f[no-]interleave-loops
  std::optional<bool> vectorize;    ///< -f[no-]vectorize
  std::optional<bool> vectorizeSlp; ///< -f[no-]slp-vectorize
};

/// Returns clang's settings for a level as in "-O<level>": "0".."3", "s" or "z".
llvm::PipelineTuningOptions clangTuning(llvm::StringRef level);

/// Returns how `tuning` differs from clangTuning(level).
LoopChoices choicesIn(const llvm::PipelineTuningOptions& tuning, llvm::StringRef level);

/// Returns the settings for a pipeline. One that names a level ("default<O2>",
/// "thinlto-pre-link<Os>") gets clang's choices for that level, and `choices` if the level is
/// `programLevel`. Others get LLVM's defaults.
llvm::PipelineTuningOptions tuningFor(llvm::StringRef passes, llvm::StringRef programLevel,
                                      const LoopChoices& choices);

} // namespace mneme::ir
