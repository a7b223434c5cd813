// Replaces each call of inline PTX by the IR of its instructions (ptx.h).
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>
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

/// llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3, and stmatrix, as inline PTX, whose rules
/// know them.
void spellAsPtx(CallInst& call, StringRef name) {
  const bool isShared = name.consume_back(".p3");
  name.consume_back(".p0");
  const auto [words, type] = name.rsplit('.');
  auto* results = dyn_cast<StructType>(call.getType());
  const bool isLoad = !call.getType()->isVoidTy();
  const unsigned count = isLoad ? (results ? results->getNumElements() : 1) : call.arg_size() - 1;
  std::string registers, constraints;
  for (unsigned index = 0; index < count; ++index) {
    registers += (index ? ", $" : "$") + std::to_string(isLoad ? index : index + 1);
    constraints += isLoad ? "=r," : ",r";
  }
  const std::string place = "[$" + std::to_string(isLoad ? count : 0) + "]";
  const std::string list = "{" + registers + "}";
  const std::string text = (words + (isShared ? ".shared." : ".") + type + " ").str() +
                           (isLoad ? list + ", " + place : place + ", " + list) + ";";
  auto* assembly = InlineAsm::get(call.getFunctionType(), text,
                                  isLoad ? constraints + "l" : "l" + constraints, true);
  IRBuilder<> builder(&call);
  SmallVector<Value*> arguments(call.args());
  CallInst* spelled = builder.CreateCall(call.getFunctionType(), assembly, arguments);
  call.replaceAllUsesWith(spelled);
  call.eraseFromParent();
}

void spellMatrixMoves(Module& module) {
  constexpr StringRef kPrefix = "llvm.nvvm.";
  for (Function& function : module) {
    StringRef name = function.getName();
    if (!name.consume_front(kPrefix) ||
        !(name.starts_with("ldmatrix.") || name.starts_with("stmatrix.")))
      continue;
    for (User* user : make_early_inc_range(function.users()))
      if (auto* call = dyn_cast<CallInst>(user))
        spellAsPtx(*call, name);
  }
}

} // namespace

void lowerInlineAssembly(Module& module) {
  spellMatrixMoves(module);
  SmallVector<CallInst*> calls;
  for (Function& function : module)
    for (Instruction& instruction : instructions(function))
      if (auto* call = dyn_cast<CallInst>(&instruction); call && call->isInlineAsm())
        calls.push_back(call);
  for (CallInst* call : calls)
    lowerAssembly(*call);
}

} // namespace mneme::compile::cpu
