// What an AMDGCN-flavoured module says about itself, and its address spaces.
#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "runtime/compiler/ir/compat.h"
#include "runtime/emulator/lowering/amdgcn/amdgcn.h"
#include "runtime/emulator/lowering/steps.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

constexpr unsigned kPrivateSpace = 5;

/// gfx90a: major 9, minor 0, stepping 10. Generic names count as version N.0.0.
unsigned isaVersionOf(StringRef processor) {
  if (!processor.consume_front("gfx"))
    return 0;
  StringRef digits = processor.take_while([](char c) { return isHexDigit(c); });
  unsigned major = 0;
  if (digits.size() != processor.size() || digits.size() < 3)
    return processor.consumeInteger(10, major) ? 0 : major * 1000;
  if (digits.drop_back(2).getAsInteger(10, major))
    return 0;
  return major * 1000 + hexDigitValue(digits[digits.size() - 2]) * 100 +
         hexDigitValue(digits.back());
}

/// Kernels take by-value structs as by-reference ones in constant memory.
Function& withPlainParameters(Function& kernel) {
  LLVMContext& context = kernel.getContext();
  PointerType* plain = PointerType::get(context, 0);
  SmallVector<Type*> types;
  SmallVector<AttributeSet> parameters;
  for (Argument& argument : kernel.args()) {
    types.push_back(argument.getType()->isPointerTy() ? plain : argument.getType());
    AttrBuilder attributes(context, kernel.getAttributes().getParamAttrs(argument.getArgNo()));
    if (Type* referred = argument.getParamByRefType()) {
      attributes.removeAttribute(Attribute::ByRef);
      attributes.addByValAttr(referred);
    }
    parameters.push_back(AttributeSet::get(context, attributes));
  }
  Function* made = Function::Create(FunctionType::get(kernel.getReturnType(), types, false),
                                    kernel.getLinkage(), "", kernel.getParent());
  made->takeName(&kernel);
  made->setAttributes(
      AttributeList::get(context, kernel.getAttributes().getFnAttrs(), AttributeSet(), parameters));
  made->splice(made->begin(), &kernel);
  IRBuilder<> builder(&*made->getEntryBlock().getFirstInsertionPt());
  for (Argument& argument : kernel.args()) {
    Argument* to = made->getArg(argument.getArgNo());
    to->takeName(&argument);
    argument.replaceAllUsesWith(builder.CreateAddrSpaceCast(to, argument.getType()));
  }
  kernel.replaceAllUsesWith(made);
  kernel.eraseFromParent();
  return *made;
}

/// The local variable at a plain address; lifetimes would name the old one.
void flattenLocal(AllocaInst& local) {
  IRBuilder<> builder(&local);
  AllocaInst* plain = builder.CreateAlloca(local.getAllocatedType(), 0, local.getArraySize());
  plain->setAlignment(local.getAlign());
  plain->takeName(&local);
  Value* inOldSpace = nullptr;
  for (Use& use : make_early_inc_range(local.uses())) {
    auto* user = cast<Instruction>(use.getUser());
    auto* intrinsic = dyn_cast<IntrinsicInst>(user);
    if (intrinsic && intrinsic->isLifetimeStartOrEnd()) {
      intrinsic->eraseFromParent();
      continue;
    }
    auto* cast = dyn_cast<AddrSpaceCastInst>(user);
    if (cast && cast->getType() == plain->getType()) {
      cast->replaceAllUsesWith(plain);
      cast->eraseFromParent();
      continue;
    }
    if (!inOldSpace)
      inOldSpace = builder.CreateAddrSpaceCast(plain, local.getType());
    use.set(inOldSpace);
  }
  local.eraseFromParent();
}

} // namespace

bool isAmdgcn(const Module& module) { return compat::moduleTriple(module).isAMDGCN(); }

AmdgcnTraits readAmdgcnTraits(const Module& module, const Function& kernel) {
  AmdgcnTraits traits;
  if (auto* version =
          mdconst::extract_or_null<ConstantInt>(module.getModuleFlag("amdhsa_code_object_version")))
    traits.codeObject = unsigned(version->getZExtValue());
  if (unsigned isa = isaVersionOf(kernel.getFnAttribute("target-cpu").getValueAsString()))
    traits.isaVersion = isa;
  StringRef features = kernel.getFnAttribute("target-features").getValueAsString();
  const GlobalVariable* setting = module.getNamedGlobal("__oclc_wavefrontsize64");
  if (features.contains("+wavefrontsize64"))
    traits.waveSize = 64;
  else if (features.contains("+wavefrontsize32"))
    traits.waveSize = 32;
  else if (setting && setting->hasInitializer())
    traits.waveSize = setting->getInitializer()->isNullValue() ? 32 : 64;
  else
    traits.waveSize = traits.isaVersion >= 10000 ? 32 : 64;
  return traits;
}

Function& flattenAmdgcnSpaces(Module& module, Function& kernel) {
  SmallVector<AllocaInst*> locals;
  for (Function& function : module)
    for (Instruction& instruction : instructions(function))
      if (auto* local = dyn_cast<AllocaInst>(&instruction);
          local && local->getAddressSpace() == kPrivateSpace)
        locals.push_back(local);
  for (AllocaInst* local : locals)
    flattenLocal(*local);
  return withPlainParameters(kernel);
}

} // namespace mneme::compile::cpu
