// Room passes: host side. What a launch hands over is the same for equal values.
#pragma once

#include <llvm/IR/PassManager.h>

namespace mneme::passes {

/// Makes the bytes between members zero in the structures that a stub gives to a kernel by value,
/// right before it launches: two launches with equal members are equal, wherever the program had
/// the structure. The stub has a copy of its own. All other host code stays as it is, and so does a
/// device module. Returns whether the module changed.
bool clearLaunchPadding(llvm::Module& module);

class ClearLaunchPaddingPass : public llvm::PassInfoMixin<ClearLaunchPaddingPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&);
  static bool isRequired() { return true; }
};

} // namespace mneme::passes
