// Room passes: host side. Registers a unit's kernels and device globals with libmneme_rt.
#pragma once

#include <llvm/IR/PassManager.h>

namespace mneme::passes {

/// Emits a constant `mneme_module_entry` (runtime/core/abi/mneme_rt.h) with a constructor that
/// registers it and a destructor that unregisters it. The list is taken from clang's own
/// registration code in the module: calls of `__cudaRegisterFunction`, `__cudaRegisterVar` and
/// their HIP counterparts or, with relocatable device code, the offload entries. A module without
/// any is left unchanged. CUDA's registration of the unit's code goes through
/// mneme_rt_register_code(). Returns whether the module changed.
bool registerKernels(llvm::Module& module);

class RegisterKernelsPass : public llvm::PassInfoMixin<RegisterKernelsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&);
  static bool isRequired() { return true; }
};

} // namespace mneme::passes
