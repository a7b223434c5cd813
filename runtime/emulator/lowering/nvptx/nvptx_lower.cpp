// Replaces calls of llvm.nvvm.* by what the table has for their names (table.h).
#include "runtime/emulator/lowering/matrix.h"
#include "runtime/emulator/lowering/nvptx/table.h"
#include "runtime/emulator/lowering/steps.h"

#include <llvm/IR/InstIterator.h>

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

constexpr StringRef kPrefix = "llvm.nvvm.";
constexpr StringRef kWmma = "wmma.";

bool isWmma(StringRef name) { return name.starts_with(kWmma); }

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

/// The call's name behind the prefix; empty if it is of no such intrinsic.
StringRef nameOf(const CallInst& call) {
  const Function* callee = call.getCalledFunction();
  StringRef name = callee ? callee->getName() : StringRef();
  return name.consume_front(kPrefix) ? name : StringRef();
}

SmallVector<CallInst*> callsOf(Module& module, function_ref<bool(StringRef)> isWanted) {
  SmallVector<CallInst*> calls;
  for (Function& function : module)
    for (Instruction& instruction : instructions(function))
      if (auto* call = dyn_cast<CallInst>(&instruction))
        if (const StringRef name = nameOf(*call); !name.empty() && isWanted(name))
          calls.push_back(call);
  return calls;
}

} // namespace

void lowerNvvm(Module& module) {
  // Products of matrices become other intrinsics.
  for (CallInst* call : callsOf(module, isWmma))
    lowerWmma(*call, nameOf(*call).drop_front(kWmma.size()));
  for (CallInst* call : callsOf(module, [](StringRef name) { return !isLate(name); }))
    lowerCall(*call, nameOf(*call));
}

} // namespace mneme::compile::cpu
