// Room passes: converts host functions that have marks of the JIT interface.
#pragma once

#include <llvm/IR/PassManager.h>

namespace mneme::passes {

/// Gives each marked function of a host unit a new body that gets the code to run from
/// mneme_jit_host_function() and calls it, and embeds the function with everything it calls
/// (runtime/core/abi/mneme_jit_host.h). The original body is kept as an internal function. Warns
/// about a function that cannot be extracted from its unit and leaves it unchanged. Returns whether
/// the module changed. `dropsMarks`: ignore the marks of functions, because every kernel is marked
/// instead.
bool convertHostFunctions(llvm::Module& module, bool dropsMarks = false);

class HostFunctionsPass : public llvm::PassInfoMixin<HostFunctionsPass> {
public:
  explicit HostFunctionsPass(bool dropsMarks = false) : dropsMarks_(dropsMarks) {}
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&);
  static bool isRequired() { return true; }

private:
  bool dropsMarks_;
};

} // namespace mneme::passes
