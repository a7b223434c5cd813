// Replaces calls of llvm.nvvm.* by what the table has for their names (table.h).
#include "runtime/compile/cpu/nvptx/table.h"
#include "runtime/compile/cpu/steps.h"

#include <llvm/IR/InstIterator.h>

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

constexpr StringRef kPrefix = "llvm.nvvm.";

/// Special registers and `exit` need the kernel's final shape.
bool isLate(StringRef name) {
  return name.starts_with("read.ptx.sreg.") || name == "exit" || name == "is_explicit_cluster";
}

void lowerCall(CallInst& call, StringRef name) {
  unsigned modifiers = 0;
  const NvvmRule* rule = findNvvmRule(name, modifiers);
  if (!rule)
    throwUnsupported("the intrinsic '" + kPrefix + name + "'", *call.getFunction());
  Emit emit(call);
  replaceCall(call, rule->handler({emit, call, modifiers, rule->variant}));
}

} // namespace

void lowerNvvm(Module& module) {
  SmallVector<CallInst*> calls;
  for (Function& function : module)
    for (Instruction& instruction : instructions(function))
      if (auto* call = dyn_cast<CallInst>(&instruction))
        if (Function* callee = call->getCalledFunction())
          if (callee->getName().starts_with(kPrefix) &&
              !isLate(callee->getName().drop_front(kPrefix.size())))
            calls.push_back(call);
  for (CallInst* call : calls)
    lowerCall(*call, call->getCalledFunction()->getName().drop_front(kPrefix.size()));
}

} // namespace mneme::compile::cpu
