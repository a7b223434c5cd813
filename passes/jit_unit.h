// Room passes: host side. Makes a unit with marks of the JIT interface register itself when it is
// loaded.
#pragma once

#include <llvm/IR/PassManager.h>

namespace mneme::passes {

/// Adds a constructor that calls mneme_jit_expect() to a unit whose kernels may be compiled at run
/// time: one that includes the interface's header or has a kernel with annotate("jit"). Returns
/// whether the module changed.
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
