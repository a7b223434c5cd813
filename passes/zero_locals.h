// Room passes: device side. Initialises local variables that may be read before they are set.
#pragma once

#include <llvm/IR/PassManager.h>

namespace mneme::passes {

/// Sets variables of a device module that may be read before they are set (unset_trial.h) to zero
/// where their lifetime begins. Otherwise a kernel's results would depend on the previous content
/// of memory and differ between pipelines. The stores are annotated like those of clang's
/// -ftrivial-auto-var-init (`!annotation !{!"auto-init"}`). Leaves other variables, functions of
/// the toolkit's device libraries and host modules unchanged. Emits a remark for each variable,
/// which clang shows with -Rpass=mneme. Returns whether the module changed.
bool zeroLocals(llvm::Module& module);

class ZeroLocalsPass : public llvm::PassInfoMixin<ZeroLocalsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&);
  static bool isRequired() { return true; }
};

} // namespace mneme::passes
