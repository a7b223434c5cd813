// Room passes: how much debug information a program gets. clang is made to write types, from which
// names of members are read; what the program did not ask for is removed before anything else
// looks.
#pragma once

#include <llvm/IR/PassManager.h>

#include "passes/compiler_arguments.h"

namespace mneme::passes {

enum class DebugLevel {
  Full,       ///< all that is there
  Lines,      ///< -gline-tables-only
  Directives, ///< -gline-directives-only, all that optimised code for NVIDIA GPUs has
  Locations,  ///< for remarks, not for the object
  None,
};

/// The option by which add_mneme() and the compilers of mneme make clang write types (-Xclang). It
/// comes after the level that clang's driver chose and takes its place.
inline constexpr llvm::StringRef kTypesOption = "-debug-info-kind=limited";

/// Returns what is asked for by others than kTypesOption, of a module for a GPU of NVIDIA or for
/// another processor. Without arguments, and without this option: Full.
DebugLevel debugLevelOf(const CompilerArguments& arguments, bool isForNvidia);

/// Leaves the module as clang writes it for `level`. Returns whether it changed.
bool lowerDebugInfo(llvm::Module& module, DebugLevel level);

/// Lowers modules as the command line of the compiler says.
class LowerDebugInfoPass : public llvm::PassInfoMixin<LowerDebugInfoPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&);
  static bool isRequired() { return true; }
};

} // namespace mneme::passes
