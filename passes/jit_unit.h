// Room passes: host side. A unit with marks of the JIT interface says so when it is loaded.
#pragma once

#include <llvm/IR/PassManager.h>

namespace mneme::passes {

/// Whether a unit is one whose kernels may be compiled at run time: it includes the interface's
/// header, or has a kernel with annotate("jit"). Then a constructor calls mneme_jit_expect().
/// Returns whether the module changed.
bool noteJitUnit(llvm::Module& module, bool marksAll);

class NoteJitUnitPass : public llvm::PassInfoMixin<NoteJitUnitPass> {
public:
  explicit NoteJitUnitPass(bool marksAll) : marksAll_(marksAll) {}
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&);
  static bool isRequired() { return true; }

private:
  bool marksAll_;
};

} // namespace mneme::passes
