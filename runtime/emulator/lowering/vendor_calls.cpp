// Functions of the vendor's device runtime: printf, assert, the device heap, traps.
#include <cstddef>

#include "runtime/core/abi/cpu_image.h"
#include "runtime/emulator/lowering/emit.h"
#include "runtime/emulator/lowering/steps.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

using VendorHandler = Value* (*)(Emit&, CallInst&);

Value* print(Emit& e, CallInst& call) {
  return e.service(offsetof(mneme_cpu_services, vprintf), e.i(32),
                   {e.context(), call.getArgOperand(0), call.getArgOperand(1)});
}

Value* assertFail(Emit& e, CallInst& call) {
  e.service(offsetof(mneme_cpu_services, assert_fail), e.getVoidTy(),
            {e.context(), call.getArgOperand(0), call.getArgOperand(1), call.getArgOperand(2),
             call.getArgOperand(3)});
  return nullptr;
}

Value* allocate(Emit& e, CallInst& call) {
  return e.service(offsetof(mneme_cpu_services, device_malloc), e.getPtrTy(),
                   {e.context(), e.CreateZExtOrTrunc(call.getArgOperand(0), e.i(64))});
}

Value* release(Emit& e, CallInst& call) {
  e.service(offsetof(mneme_cpu_services, device_free), e.getVoidTy(),
            {e.context(), call.getArgOperand(0)});
  return nullptr;
}

Value* trap(Emit& e, CallInst&) {
  e.service(offsetof(mneme_cpu_services, trap), e.getVoidTy(), {e.context()})->setDoesNotReturn();
  return nullptr;
}

Value* readCycles(Emit& e, CallInst&) {
  return e.service(offsetof(mneme_cpu_services, clock), e.i(64), {});
}

Value* readTime(Emit& e, CallInst&) {
  return e.service(offsetof(mneme_cpu_services, global_timer), e.i(64), {});
}

Value* drop(Emit&, CallInst&) { return nullptr; }

struct VendorRule {
  const char* name;
  VendorHandler handler;
};

constexpr VendorRule kRules[] = {
    {"vprintf", print},
    {"__assertfail", assertFail},
    {"__assert_fail", assertFail},
    {"malloc", allocate},
    {"free", release},
    {"llvm.trap", trap},
    {"llvm.ubsantrap", trap},
    {"llvm.debugtrap", drop},
    {"llvm.readcyclecounter", readCycles},
    {"llvm.readsteadycounter", readTime},
};

/// Functions whose address stands in virtual tables; calling one is an error of the program.
constexpr const char* kTrappingFunctions[] = {"__cxa_pure_virtual", "__cxa_deleted_virtual"};

void defineTrappingFunctions(Module& module) {
  for (const char* name : kTrappingFunctions) {
    Function* function = module.getFunction(name);
    if (!function || !function->isDeclaration())
      continue;
    BasicBlock* entry = BasicBlock::Create(module.getContext(), "entry", function);
    Emit emit(*new UnreachableInst(module.getContext(), entry));
    emit.service(offsetof(mneme_cpu_services, trap), emit.getVoidTy(), {emit.context()})
        ->setDoesNotReturn();
    function->setLinkage(GlobalValue::InternalLinkage);
  }
}

} // namespace

void replaceVendorCalls(Module& module) {
  defineTrappingFunctions(module);
  for (const VendorRule& rule : kRules) {
    Function* function = module.getFunction(rule.name);
    if (!function || !function->isDeclaration())
      continue;
    for (User* user : make_early_inc_range(function->users())) {
      auto* call = dyn_cast<CallInst>(user);
      if (!call || call->getCalledFunction() != function)
        continue;
      Emit emit(*call);
      replaceCall(*call, rule.handler(emit, *call));
    }
    if (function->use_empty())
      function->eraseFromParent();
  }
}

} // namespace mneme::compile::cpu
