// Steps of the lowering (steps.h) that take away what only a GPU understands.
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/AttributeMask.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/Local.h>

#include "runtime/compiler/ir/compat.h"
#include "runtime/emulator/lowering/steps.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

constexpr const char* kDroppedLists[] = {"llvm.used", "llvm.compiler.used", "llvm.global_ctors",
                                         "llvm.global_dtors"};
constexpr const char* kDroppedMetadata[] = {"nvvm.annotations", "nvvmir.version", "llvm.ident",
                                            "opencl.ocl.version", "llvm.module.flags"};

void normalizeAttributes(Function& function) {
  function.setComdat(nullptr);
  function.setSection("");
  function.setGC("");
  function.setCallingConv(CallingConv::C);
  if (function.isIntrinsic())
    return;
  AttributeMask mask;
  for (auto kind : {Attribute::OptimizeNone, Attribute::NoInline, Attribute::AlwaysInline,
                    Attribute::Convergent, Attribute::MinSize, Attribute::OptimizeForSize,
                    Attribute::StackProtect, Attribute::StackProtectStrong,
                    Attribute::StackProtectReq, Attribute::UWTable})
    mask.addAttribute(kind);
  for (const Attribute& attribute : function.getAttributes().getFnAttrs())
    if (attribute.isStringAttribute())
      mask.addAttribute(attribute.getKindAsString());
  // What an optimiser has inferred does not hold for code that reads the context and calls
  // services.
  if (!function.isDeclaration())
    for (auto kind :
         {Attribute::Memory, Attribute::NoSync, Attribute::Speculatable, Attribute::WillReturn})
      mask.addAttribute(kind);
  function.removeFnAttrs(mask);
  function.setDoesNotThrow();
}

void normalizeInstruction(Instruction& instruction) {
  if (auto* call = dyn_cast<CallBase>(&instruction)) {
    call->setCallingConv(CallingConv::C);
    call->removeFnAttr(Attribute::Convergent);
    call->removeFnAttr(Attribute::NoInline);
    call->removeFnAttr(Attribute::AlwaysInline);
    if (const Function* callee = call->getCalledFunction(); callee && !callee->isDeclaration())
      call->removeFnAttr(Attribute::Memory);
  }
  // Licences to contract or reassociate would make results depend on the pipeline.
  if (isa<FPMathOperator>(instruction)) {
    instruction.copyFastMathFlags(FastMathFlags());
    instruction.setMetadata(LLVMContext::MD_fpmath, nullptr);
  }
  if (auto* rmw = dyn_cast<AtomicRMWInst>(&instruction))
    rmw->setSyncScopeID(SyncScope::System);
  else if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
    exchange->setSyncScopeID(SyncScope::System);
  else if (auto* fence = dyn_cast<FenceInst>(&instruction))
    fence->setSyncScopeID(SyncScope::System);
  else if (auto* load = dyn_cast<LoadInst>(&instruction); load && load->isAtomic())
    load->setSyncScopeID(SyncScope::System);
  else if (auto* store = dyn_cast<StoreInst>(&instruction); store && store->isAtomic())
    store->setSyncScopeID(SyncScope::System);
}

/// llvm.fmuladd may be fused or not as a target likes: on the CPU it never is.
void splitMultiplyAdds(Function& function) {
  for (Instruction& instruction : make_early_inc_range(instructions(function))) {
    auto* call = dyn_cast<IntrinsicInst>(&instruction);
    if (!call || call->getIntrinsicID() != Intrinsic::fmuladd)
      continue;
    IRBuilder<> builder(call);
    Value* product = builder.CreateFMul(call->getArgOperand(0), call->getArgOperand(1));
    call->replaceAllUsesWith(builder.CreateFAdd(product, call->getArgOperand(2)));
    call->eraseFromParent();
  }
}

void markReachable(Constant* constant, SmallPtrSetImpl<Constant*>& seen,
                   SmallVectorImpl<GlobalValue*>& work) {
  if (!seen.insert(constant).second)
    return;
  if (auto* global = dyn_cast<GlobalValue>(constant)) {
    work.push_back(global);
    return;
  }
  for (Value* operand : constant->operands())
    if (auto* next = dyn_cast<Constant>(operand))
      markReachable(next, seen, work);
}

} // namespace

void keepReachable(Module& module, Function& kernel) {
  SmallPtrSet<Constant*, 32> seen;
  SmallVector<GlobalValue*> work;
  markReachable(&kernel, seen, work);
  while (!work.empty()) {
    GlobalValue* global = work.pop_back_val();
    for (Value* operand : global->operands())
      if (auto* constant = dyn_cast<Constant>(operand))
        markReachable(constant, seen, work);
    if (auto* function = dyn_cast<Function>(global))
      for (Instruction& instruction : instructions(*function))
        for (Value* operand : instruction.operands())
          if (auto* constant = dyn_cast<Constant>(operand))
            markReachable(constant, seen, work);
  }
  SmallVector<GlobalValue*> dead;
  for (GlobalValue& global : module.global_values())
    if (!seen.contains(&global))
      dead.push_back(&global);
  for (GlobalValue* global : dead) {
    if (auto* function = dyn_cast<Function>(global))
      function->deleteBody();
    else if (auto* variable = dyn_cast<GlobalVariable>(global))
      variable->setInitializer(nullptr);
    else
      global->dropAllReferences();
  }
  for (GlobalValue* global : dead) {
    global->removeDeadConstantUsers();
    global->replaceAllUsesWith(PoisonValue::get(global->getType()));
    global->eraseFromParent();
  }
  for (Function& function : module)
    if (!function.isDeclaration() && &function != &kernel)
      function.setLinkage(GlobalValue::InternalLinkage);
}

void dropDeviceProperties(Module& module, const CpuLoweringOptions&) {
  StripDebugInfo(module);
  for (const char* name : kDroppedLists)
    if (GlobalVariable* list = module.getNamedGlobal(name))
      list->eraseFromParent();
  for (const char* name : kDroppedMetadata)
    if (NamedMDNode* node = module.getNamedMetadata(name))
      node->eraseFromParent();
  module.setModuleInlineAsm("");
  for (GlobalAlias& alias : make_early_inc_range(module.aliases())) {
    alias.replaceAllUsesWith(alias.getAliasee());
    alias.eraseFromParent();
  }
  for (GlobalVariable& global : module.globals()) {
    global.setComdat(nullptr);
    global.setSection("");
  }
  for (Function& function : module) {
    normalizeAttributes(function);
    for (Instruction& instruction : instructions(function))
      normalizeInstruction(instruction);
    splitMultiplyAdds(function);
  }
}

void setHostTarget(Module& module, const TargetMachine& machine) {
  compat::setModuleTriple(module, machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
}

} // namespace mneme::compile::cpu
