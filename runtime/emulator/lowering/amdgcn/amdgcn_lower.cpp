// Intrinsics and inline assembly of AMDGCN-flavoured functions.
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "runtime/emulator/lowering/amdgcn/amdgcn.h"
#include "runtime/emulator/lowering/steps.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

constexpr StringRef kPrefix = "llvm.amdgcn.";

/// f32, v2i16, p3: what an overloaded intrinsic's name ends with.
bool isType(StringRef token) {
  token.consume_front("b"); // bf16
  if (token.consume_front("v"))
    token = token.drop_while([](char c) { return isDigit(c); });
  token.consume_front("b");
  if (token.empty() || !StringRef("ifp").contains(token.front()))
    return false;
  token = token.drop_front();
  return !token.empty() && all_of(token, [](char c) { return isDigit(c); });
}

const AmdgcnRule* findRule(StringRef name) {
  static const StringMap<const AmdgcnRule*> index = [] {
    StringMap<const AmdgcnRule*> made;
    for (auto rules :
         {amdgcnLaunchRules(), amdgcnArithmeticRules(), amdgcnIntegerRules(), amdgcnWaveRules()})
      for (const AmdgcnRule& rule : rules)
        made[rule.name] = &rule;
    return made;
  }();
  for (StringRef head = name;;) {
    if (auto found = index.find(head); found != index.end())
      return found->second;
    auto [front, token] = head.rsplit('.');
    if (token.empty() || !isType(token))
      return nullptr;
    head = front;
  }
}

void lowerIntrinsic(CallInst& call, const AmdgcnTraits& traits) {
  StringRef full = call.getCalledFunction()->getName();
  StringRef name = full;
  name.consume_front(kPrefix);
  const AmdgcnRule* rule = findRule(name);
  if (!rule)
    throwUnsupported("the intrinsic '" + full + "'", *call.getFunction());
  Emit emit(call);
  replaceCall(call, rule->handler({emit, call, traits, rule->variant}));
}

/// Instructions that only schedule or wait: in order, the CPU does both by itself.
bool isWithoutEffect(StringRef line) {
  line = line.split(';').first.split("//").first.trim();
  return line.empty() || line.starts_with("s_waitcnt") || line.starts_with("s_nop") ||
         line.starts_with("s_sleep") || line.starts_with("s_setprio") ||
         line.starts_with("s_sched_barrier") || line.starts_with("s_wait_");
}

/// Assembly that passes its operand on, as libraries do to keep the compiler from moving code.
void lowerAssembly(CallInst& call) {
  auto* assembly = cast<InlineAsm>(call.getCalledOperand());
  StringRef text = assembly->getAsmString();
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (StringRef line : lines)
    if (!isWithoutEffect(line))
      throwUnsupported("the inline assembly '" + line.trim() + "'", *call.getFunction());
  Type* type = call.getType();
  Value* result = nullptr;
  if (!type->isVoidTy()) {
    if (call.arg_size() != 1 || call.getArgOperand(0)->getType() != type)
      throwUnsupported("the inline assembly '" + text + "' with its operands", *call.getFunction());
    result = call.getArgOperand(0);
    call.replaceAllUsesWith(result);
  }
  call.eraseFromParent();
}

/// Names of LLVM's own functions and the host's. They must not be taken apart, so that results do
/// not depend on the pipeline.
constexpr std::pair<Intrinsic::ID, const char*> kMath[] = {
    {Intrinsic::exp, "exp"},     {Intrinsic::exp2, "exp2"}, {Intrinsic::exp10, "exp10"},
    {Intrinsic::log, "log"},     {Intrinsic::log2, "log2"}, {Intrinsic::log10, "log10"},
    {Intrinsic::sin, "sin"},     {Intrinsic::cos, "cos"},   {Intrinsic::pow, "pow"},
    {Intrinsic::ldexp, "ldexp"},
};

void lowerMath(IntrinsicInst& call) {
  Type* type = call.getType();
  if (!type->isFloatTy() && !type->isDoubleTy())
    return;
  for (auto [id, name] : kMath)
    if (call.getIntrinsicID() == id) {
      Emit emit(call);
      SmallVector<Value*> operands(call.args());
      replaceCall(call,
                  emit.libm(std::string(name) + (type->isFloatTy() ? "f" : ""), type, operands));
      return;
    }
}

/// Block and grid sizes the compile request fixed, see specializeDimensions.
void applyDimensions(Module& module) {
  NamedMDNode* note = module.getNamedMetadata("mneme.dimensions");
  if (!note)
    return;
  constexpr const char* kRegisters[] = {"ntid.x",   "ntid.y",   "ntid.z",
                                        "nctaid.x", "nctaid.y", "nctaid.z"};
  for (unsigned index = 0; index < note->getNumOperands(); ++index) {
    Function* reads = module.getFunction(std::string(kRegisterPrefix) + kRegisters[index]);
    if (!reads)
      continue;
    auto* value = mdconst::extract<ConstantInt>(note->getOperand(index)->getOperand(0));
    for (User* user : make_early_inc_range(reads->users()))
      replaceCall(*cast<CallInst>(user), value);
  }
  note->eraseFromParent();
}

} // namespace

uint64_t AmdgcnCall::constant(unsigned index) const {
  auto* number = dyn_cast<ConstantInt>(operand(index));
  if (!number)
    throwUnsupported("'" + call.getCalledFunction()->getName() + "' with operand " + Twine(index) +
                         " not a constant",
                     *call.getFunction());
  return number->getZExtValue();
}

void lowerAmdgcn(Module& module, const AmdgcnTraits& traits) {
  SmallVector<CallInst*> calls;
  for (Function& function : module)
    for (Instruction& instruction : instructions(function))
      if (auto* call = dyn_cast<CallInst>(&instruction))
        calls.push_back(call);
  for (CallInst* call : calls) {
    if (call->isInlineAsm())
      lowerAssembly(*call);
    else if (Function* callee = call->getCalledFunction();
             callee && (callee->getName().starts_with(kPrefix) ||
                        callee->getName().starts_with("llvm.read_register")))
      lowerIntrinsic(*call, traits);
    else if (auto* intrinsic = dyn_cast<IntrinsicInst>(call))
      lowerMath(*intrinsic);
  }
  applyDimensions(module);
}

} // namespace mneme::compile::cpu
