// Room passes: host functions with marks of the JIT interface.
#pragma once

#include <llvm/IR/PassManager.h>

namespace mneme::passes {

/// Gives each marked function of a host unit a body that asks mneme_jit_host_function() which code
/// to run and goes on there, and embeds the function with what it calls
/// (runtime/abi/mneme_jit_host.h). What it was stays as an internal function. A function that
/// cannot be cut out of its unit stays as it is, with a warning. Returns whether the module
/// changed. `dropsMarks`: of functions, since every kernel is marked instead.
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
