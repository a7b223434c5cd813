// Room passes: host side. Makes launches with equal values pass equal bytes.
#pragma once

#include <llvm/IR/PassManager.h>

namespace mneme::passes {

/// Sets the padding to zero in the structures that a stub passes to a kernel by value, right before
/// the launch, so that two launches with equal members pass equal bytes. The stub has its own copy
/// of each structure. Leaves all other host code, and device modules, unchanged. Returns whether
/// the module changed.
bool clearLaunchPadding(llvm::Module& module);

class ClearLaunchPaddingPass : public llvm::PassInfoMixin<ClearLaunchPaddingPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&);
  static bool isRequired() { return true; }
};

} // namespace mneme::passes
