// The kernel's function becomes the body of a loop over a block's threads, or of one thread.
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

#include "runtime/emulator/lowering/body.h"
#include "runtime/emulator/lowering/emit.h"
#include "runtime/emulator/lowering/phases/phases.h"
#include "runtime/emulator/lowering/steps.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

/// True if memory behind `pointer` may be written through it or the address escapes.
bool mayBeWritten(Value* pointer, unsigned depth = 0) {
  if (depth > 16)
    return true;
  for (User* user : pointer->users()) {
    if (isa<LoadInst>(user))
      continue;
    if (isa<GetElementPtrInst>(user) || isa<AddrSpaceCastInst>(user)) {
      if (mayBeWritten(user, depth + 1))
        return true;
      continue;
    }
    auto* transfer = dyn_cast<MemTransferInst>(user);
    if (transfer && transfer->getRawDest() != pointer)
      continue;
    auto* intrinsic = dyn_cast<IntrinsicInst>(user);
    if (intrinsic && intrinsic->isLifetimeStartOrEnd())
      continue;
    return true;
  }
  return false;
}

/// The callee may belong to another image: objects with virtual functions live in device memory.
bool hasIndirectCall(Function& function) {
  return any_of(instructions(function), [](Instruction& instruction) {
    auto* call = dyn_cast<CallInst>(&instruction);
    return call && call->isIndirectCall();
  });
}

void replaceExits(Function& body) {
  SmallVector<CallInst*> exits;
  for (Instruction& instruction : instructions(body))
    if (auto* call = dyn_cast<CallInst>(&instruction))
      if (Function* callee = call->getCalledFunction();
          callee && callee->getName() == "llvm.nvvm.exit")
        exits.push_back(call);
  for (CallInst* call : exits) {
    BasicBlock* block = call->getParent();
    block->splitBasicBlock(call->getNextNode());
    call->eraseFromParent();
    ReturnInst* exit = ReturnInst::Create(body.getContext());
    ReplaceInstWithInst(block->getTerminator(), exit);
  }
  if (!exits.empty())
    removeUnreachableBlocks(body);
}

ThreadValues trailingArguments(Function& body, unsigned first) {
  ThreadValues values;
  values.context = body.getArg(first++);
  values.context->setName("context");
  for (auto [group, name] :
       {std::pair{values.thread, "tid."}, std::pair{values.block, "ctaid."},
        std::pair{values.blockSize, "ntid."}, std::pair{values.gridSize, "nctaid."}})
    for (unsigned d = 0; d < 3; ++d) {
      group[d] = body.getArg(first++);
      group[d]->setName(Twine(name) + kAxes[d]);
    }
  return values;
}

Body makeBody(Module& module, Function& kernel, const KernelTraits& traits,
              const KernelFacts& facts) {
  LLVMContext& context = module.getContext();
  SmallVector<Type*> types(kernel.getFunctionType()->params());
  types.push_back(PointerType::get(context, 0));
  types.append(12, Type::getInt32Ty(context));
  types.push_back(Type::getInt64Ty(context)); // number of the iteration, of stepwise bodies
  Body body;
  for (Argument& argument : kernel.args())
    if (argument.hasByValAttr()) {
      argument.addAttr(Attribute::NoAlias);
      if (!mayBeWritten(&argument))
        argument.addAttr(Attribute::ReadOnly);
    }
  body.isStepwise = traits.isLoop && !traits.isPhased && isolateIteration(kernel, nullptr, true);
  Type* result = body.isStepwise ? Type::getInt1Ty(context) : Type::getVoidTy(context);
  body.function = Function::Create(FunctionType::get(result, types, false),
                                   GlobalValue::InternalLinkage, "mneme.body", module);
  body.function->setDoesNotThrow();
  unsigned count = unsigned(kernel.arg_size());
  body.isWritten.resize(count);
  body.function->splice(body.function->begin(), &kernel);
  for (unsigned index = 0; index < count; ++index) {
    Argument* from = kernel.getArg(index);
    Argument* to = body.function->getArg(index);
    body.byValue.push_back(from->hasByValAttr() ? from->getParamByValType() : nullptr);
    body.isWritten[index] = from->hasByValAttr() && !from->onlyReadsMemory();
    for (auto kind : {Attribute::NoAlias, Attribute::ReadOnly})
      if (from->hasAttribute(kind))
        to->addAttr(kind);
    to->takeName(from);
    from->replaceAllUsesWith(to);
  }
  kernel.replaceAllUsesWith(body.function);
  kernel.eraseFromParent();
  ThreadValues values = trailingArguments(*body.function, count);
  if (body.isStepwise)
    isolateIteration(*body.function, body.function->getArg(types.size() - 1), false);
  if (Function* placeholder = module.getFunction(kContextPlaceholder))
    for (User* user : make_early_inc_range(placeholder->users())) {
      auto* call = cast<CallInst>(user);
      call->replaceAllUsesWith(values.context);
      call->eraseFromParent();
    }
  resolveSpecialRegisters(*body.function, &values, facts);
  replaceExits(*body.function);
  return body;
}

/// Makes the body execute the whole block, if it is or can be cut into phases.
void runInPhases(Body& body, KernelTraits& traits, bool hasOtherFunctions, unsigned warpSize,
                 KernelEntry& entry) {
  PhaseArguments arguments;
  arguments.context = unsigned(body.byValue.size());
  for (unsigned index = 0; index < body.byValue.size(); ++index)
    arguments.writtenStructs.push_back(body.isWritten[index] ? body.byValue[index] : nullptr);
  bool mayCut = traits.isLoop && traits.mayRegroup && !body.isStepwise && !hasOtherFunctions &&
                body.isWritten.none();
  Function* whole = nullptr;
  bool isFree = false;
  if (!traits.isPhased && mayCut) {
    ValueToValueMapTy values;
    whole = CloneFunction(body.function, values);
    traits.isPhased = cutUniformLoops(*body.function, arguments);
    if (!traits.isPhased)
      traits.isPhased = isFree = cutStridedLoops(*body.function, arguments);
  }
  if (!traits.isPhased) {
    if (whole)
      whole->eraseFromParent();
    return;
  }
  PhaseStep step = makeStep(*body.function, arguments, isFree);
  body.function = step.meetings.empty()
                      ? makeRounds(step, arguments, hasOtherFunctions, whole)
                      : makeWarpRounds(step, arguments, hasOtherFunctions, warpSize);
  entry.scratchBytes = step.scratchBytes;
  entry.meetings = step.meetings;
  entry.laneOffset = step.laneOffset;
}

} // namespace

KernelEntry buildEntry(Module& module, Function& kernel, const KernelTraits& traits,
                       const KernelFacts& facts) {
  bool hasOtherFunctions = hasIndirectCall(kernel);
  for (Function& function : module)
    if (!function.isDeclaration() && &function != &kernel &&
        !function.hasFnAttribute(Attribute::StrictFP)) {
      hasOtherFunctions = true;
      resolveSpecialRegisters(function, nullptr, facts);
    }
  if (hasOtherFunctions)
    if (Function* exit = module.getFunction("llvm.nvvm.exit"))
      for (User* user : exit->users())
        if (auto* call = dyn_cast<CallInst>(user); call && call->getFunction() != &kernel)
          throwUnsupported("'exit' in a function that is not inlined", *call->getFunction());
  Body body = makeBody(module, kernel, traits, facts);
  KernelEntry entry;
  KernelTraits shape = traits;
  runInPhases(body, shape, hasOtherFunctions, facts.warpSize, entry);
  wrapBody(module, body, shape, hasOtherFunctions, entry);
  return entry;
}

} // namespace mneme::compile::cpu
