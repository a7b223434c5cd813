// How blocks of a grid wait for each other.
#include <cstddef>

#include "runtime/core/abi/cpu_image.h"
#include "runtime/emulator/lowering/amdgcn/amdgcn.h"
#include "runtime/emulator/lowering/function_body.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

/// void(i64 parties): counts arrivals in the launch's workspace.
Function& arrivalOf(Module& module) {
  constexpr StringRef kName = "mneme.grid.arrival";
  if (Function* made = module.getFunction(kName))
    return *made;
  LLVMContext& context = module.getContext();
  auto* type = FunctionType::get(Type::getVoidTy(context), {Type::getInt64Ty(context)}, false);
  Function& made = *Function::Create(type, GlobalValue::InternalLinkage, kName, module);
  ReturnInst* end = startBody(made);
  Emit e(*end);
  Value* parties = made.getArg(0);
  Value* count =
      e.launchField(e.context(), offsetof(mneme_cpu_launch, gridWorkspace), e.getPtrTy());
  Value* before = e.CreateAtomicRMW(AtomicRMWInst::Add, count, e.getInt64(1), MaybeAlign(),
                                    AtomicOrdering::SequentiallyConsistent);
  Value* round = e.CreateUDiv(before, parties);
  Value* wanted = e.CreateMul(e.CreateAdd(round, e.getInt64(1)), parties);
  BasicBlock* here = end->getParent();
  BasicBlock* after = here->splitBasicBlock(end, "arrived");
  BasicBlock* loop = BasicBlock::Create(context, "wait", &made, after);
  here->getTerminator()->setSuccessor(0, loop);
  IRBuilder<> waiting(loop);
  LoadInst* now = waiting.CreateAlignedLoad(waiting.getInt64Ty(), count, Align(8));
  now->setAtomic(AtomicOrdering::SequentiallyConsistent);
  waiting.CreateCondBr(waiting.CreateICmpULT(now, wanted), loop, after);
  finishBody(end, nullptr);
  return made;
}

} // namespace

void gridArrival(Emit& emit, Value* parties) {
  emit.CreateCall(&arrivalOf(*emit.GetInsertBlock()->getModule()), {parties});
}

} // namespace mneme::compile::cpu
