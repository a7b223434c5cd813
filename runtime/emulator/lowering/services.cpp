// A step of the lowering (steps.h): calls of services become calls through the device's table of
// them.
#include <llvm/IR/InstIterator.h>

#include "runtime/emulator/lowering/emit.h"
#include "runtime/emulator/lowering/steps.h"

using namespace llvm;

namespace mneme::compile::cpu {

void lowerServices(Module& module) {
  LLVMContext& context = module.getContext();
  Type* pointer = PointerType::get(context, 0);
  auto* slot =
      new GlobalVariable(module, pointer, false, GlobalValue::InternalLinkage,
                         ConstantPointerNull::get(cast<PointerType>(pointer)), kServicesGlobal);
  SmallVector<Function*> placeholders;
  for (Function& function : module)
    if (function.getName().starts_with(kServicePrefix))
      placeholders.push_back(&function);
  MDNode* empty = MDNode::get(context, {});
  for (Function* placeholder : placeholders) {
    uint64_t offset = 0;
    placeholder->getName().drop_front(StringRef(kServicePrefix).size()).getAsInteger(10, offset);
    for (User* user : make_early_inc_range(placeholder->users())) {
      auto* call = cast<CallInst>(user);
      IRBuilder<> builder(call);
      LoadInst* table = builder.CreateLoad(pointer, slot, "services");
      table->setMetadata(LLVMContext::MD_invariant_load, empty);
      Value* place = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), table, offset);
      LoadInst* callee = builder.CreateLoad(pointer, place);
      callee->setMetadata(LLVMContext::MD_invariant_load, empty);
      call->setDoesNotThrow();
      call->setCalledOperand(callee);
    }
    placeholder->eraseFromParent();
  }
}

} // namespace mneme::compile::cpu
