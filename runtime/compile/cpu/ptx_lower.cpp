#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>

#include "runtime/compile/cpu/emit.h"
#include "runtime/compile/cpu/steps.h"

using namespace llvm;

namespace mneme::compile::cpu {

void lowerInlineAssembly(Module& module) {
  for (Function& function : module)
    for (Instruction& instruction : make_early_inc_range(instructions(function)))
      if (auto* call = dyn_cast<CallInst>(&instruction); call && call->isInlineAsm()) {
        auto* assembly = cast<InlineAsm>(call->getCalledOperand());
        if (assembly->getAsmString().empty())
          call->eraseFromParent();
        else
          throwUnsupported("the PTX '" + Twine(assembly->getAsmString()) + "'", function);
      }
}

} // namespace mneme::compile::cpu
