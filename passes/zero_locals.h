// Room passes: device side. Gives local variables that may be read before they are set a value.
#pragma once

#include <llvm/IR/PassManager.h>

namespace mneme::passes {

/// Sets the variables of a device module to zero, where their life begins, that may be read before
/// the code sets them (unset_trial.h): what such a kernel computes would depend on what memory
/// happened to hold, and differ with each pipeline. The stores are marked as clang marks those of
/// -ftrivial-auto-var-init (`!annotation !{!"auto-init"}`). Every other variable, and a host
/// module, stay as they are. Functions of the toolkit's device libraries do, too. For each variable
/// there is a remark, which clang shows with -Rpass=mneme. Returns whether the module changed.
bool zeroLocals(llvm::Module& module);

class ZeroLocalsPass : public llvm::PassInfoMixin<ZeroLocalsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&);
  static bool isRequired() { return true; }
};

} // namespace mneme::passes
