// Replaces each call of inline PTX by the IR of its instructions (ptx.h).
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>

#include "runtime/emulator/lowering/inline_ptx/ptx.h"
#include "runtime/emulator/lowering/steps.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

/// "$$" is a dollar in LLVM's notation, "$0" and "${0}" are operands; PTX itself has no dollars.
std::string plainOperands(StringRef text) {
  std::string result;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '$' && at + 1 < text.size() && text[at + 1] == '{') {
      size_t end = text.find('}', at);
      result += '$';
      result += text.substr(at + 2, end - at - 2).split(':').first.str();
      at = end;
    } else {
      result += text[at];
    }
  }
  return result;
}

void lowerAssembly(CallInst& call) {
  auto* assembly = cast<InlineAsm>(call.getCalledOperand());
  PtxProgram program;
  try {
    program = parsePtx(plainOperands(assembly->getAsmString()));
  } catch (const std::string& statement) {
    throwUnsupported("the PTX statement '" + Twine(statement) + "'", *call.getFunction());
  }
  Emit emit(call);
  PtxContext context(emit, call, program);
  for (PtxInstruction& instruction : program.instructions)
    context.translate(instruction);
  Value* result = context.result();
  if (result)
    call.replaceAllUsesWith(result);
  call.eraseFromParent();
}

} // namespace

void lowerInlineAssembly(Module& module) {
  SmallVector<CallInst*> calls;
  for (Function& function : module)
    for (Instruction& instruction : instructions(function))
      if (auto* call = dyn_cast<CallInst>(&instruction); call && call->isInlineAsm())
        calls.push_back(call);
  for (CallInst* call : calls)
    lowerAssembly(*call);
}

} // namespace mneme::compile::cpu
