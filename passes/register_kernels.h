// Room passes: host side. Tells libmneme_rt which kernels and device globals a unit has.
#pragma once

#include <llvm/IR/PassManager.h>

namespace mneme::passes {

/// Emits a constant `mneme_module_entry` (runtime/abi/mneme_rt.h) with a constructor that registers
/// it and a destructor that unregisters it. What it lists is what clang's own registration code in
/// the module says: calls of `__cudaRegisterFunction`, `__cudaRegisterVar` and their HIP twins, or,
/// with relocatable device code, the offload entries. A module without any stays as it is.
/// Returns whether the module changed.
bool registerKernels(llvm::Module& module);

class RegisterKernelsPass : public llvm::PassInfoMixin<RegisterKernelsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&);
  static bool isRequired() { return true; }
};

} // namespace mneme::passes
