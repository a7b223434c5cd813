// The kernel's function becomes the body of a loop over a block's threads, or of one thread.
#include <cstddef>

#include <llvm/ADT/BitVector.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

#include "runtime/compile/cpu/emit.h"
#include "runtime/compile/cpu/steps.h"
#include "runtime/device/cpu/image_abi.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

constexpr const char* kAxes[] = {"x", "y", "z"};

struct Body {
  Function* function = nullptr;
  std::vector<Type*> byValue; ///< per argument: the struct's type, or null
  BitVector isWritten;        ///< per argument: a by-value struct the kernel changes
};

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

Body makeBody(Module& module, Function& kernel, uint64_t staticSharedBytes) {
  LLVMContext& context = module.getContext();
  SmallVector<Type*> types(kernel.getFunctionType()->params());
  types.push_back(PointerType::get(context, 0));
  types.append(12, Type::getInt32Ty(context));
  Body body;
  body.function = Function::Create(FunctionType::get(Type::getVoidTy(context), types, false),
                                   GlobalValue::InternalLinkage, "mneme.body", module);
  body.function->setDoesNotThrow();
  unsigned count = unsigned(kernel.arg_size());
  body.isWritten.resize(count);
  body.function->splice(body.function->begin(), &kernel);
  for (unsigned index = 0; index < count; ++index) {
    Argument* from = kernel.getArg(index);
    Argument* to = body.function->getArg(index);
    body.byValue.push_back(from->hasByValAttr() ? from->getParamByValType() : nullptr);
    body.isWritten[index] = from->hasByValAttr() && mayBeWritten(from);
    if (from->hasByValAttr() || from->hasNoAliasAttr())
      to->addAttr(Attribute::NoAlias);
    to->takeName(from);
    from->replaceAllUsesWith(to);
  }
  kernel.replaceAllUsesWith(body.function);
  kernel.eraseFromParent();
  ThreadValues values = trailingArguments(*body.function, count);
  if (Function* placeholder = module.getFunction(kContextPlaceholder))
    for (User* user : make_early_inc_range(placeholder->users())) {
      auto* call = cast<CallInst>(user);
      call->replaceAllUsesWith(values.context);
      call->eraseFromParent();
    }
  resolveSpecialRegisters(*body.function, &values, staticSharedBytes);
  replaceExits(*body.function);
  return body;
}

/// A launch constant or an index, with the range the hardware gives it.
Value* loadRanged(Emit& e, Value* base, size_t offset, uint32_t low, uint32_t high,
                  const Twine& name) {
  LoadInst* load =
      e.CreateLoad(e.i(32), e.CreateConstInBoundsGEP1_64(e.getInt8Ty(), base, offset), name);
  load->setMetadata(LLVMContext::MD_range,
                    MDBuilder(e.getContext()).createRange(APInt(32, low), APInt(32, high)));
  load->setMetadata(LLVMContext::MD_noundef, MDNode::get(e.getContext(), {}));
  return load;
}

/// Builds run_block or run_thread around a call of the body, which is then inlined.
class EntryBuilder {
public:
  EntryBuilder(Module& module, const Body& body, bool isLoop, bool hasOtherFunctions)
      : module_(module), body_(body), isLoop_(isLoop), hasOtherFunctions_(hasOtherFunctions) {}

  KernelEntry build() {
    LLVMContext& context = module_.getContext();
    auto* type = FunctionType::get(Type::getVoidTy(context), {PointerType::get(context, 0)}, false);
    function_ = Function::Create(type, GlobalValue::InternalLinkage,
                                 isLoop_ ? "mneme.run.block" : "mneme.run.thread", module_);
    function_->setDoesNotThrow();
    function_->getArg(0)->setName("context");
    function_->getArg(0)->addAttr(Attribute::NoAlias);
    function_->getArg(0)->addAttr(Attribute::NonNull);
    BasicBlock* entry = BasicBlock::Create(context, "entry", function_);
    Emit emit(*ReturnInst::Create(context, entry));
    values_.context = function_->getArg(0);
    loadLaunch(emit);
    loadArguments(emit);
    if (isLoop_)
      buildLoops(emit);
    else
      callBody(emit);
    KernelEntry result;
    result.function = function_;
    result.argSizes = argSizes_;
    result.localBytes = hasOtherFunctions_ ? 0 : localBytes();
    return result;
  }

private:
  void loadLaunch(Emit& e) {
    launch_ = e.contextField(values_.context, offsetof(mneme_cpu_context, launch), e.getPtrTy());
    // Limits of every device: 1024 threads along x and y, 64 along z, 2^31 - 1 blocks.
    constexpr uint32_t kThreads[] = {1025, 1025, 65};
    for (unsigned d = 0; d < 3; ++d) {
      values_.blockSize[d] = loadRanged(e, launch_, offsetof(mneme_cpu_launch, block) + 4 * d, 1,
                                        kThreads[d], Twine("ntid.") + kAxes[d]);
      values_.gridSize[d] = loadRanged(e, launch_, offsetof(mneme_cpu_launch, grid) + 4 * d, 1,
                                       0x80000000u, Twine("nctaid.") + kAxes[d]);
      values_.block[d] =
          loadRanged(e, values_.context, offsetof(mneme_cpu_context, blockId) + 4 * d, 0,
                     0x7fffffffu, Twine("ctaid.") + kAxes[d]);
      if (!isLoop_)
        values_.thread[d] =
            loadRanged(e, values_.context, offsetof(mneme_cpu_context, threadId) + 4 * d, 0,
                       kThreads[d] - 1, Twine("tid.") + kAxes[d]);
    }
  }

  void loadArguments(Emit& e) {
    const DataLayout& layout = module_.getDataLayout();
    Value* pointers = e.CreateLoad(
        e.getPtrTy(),
        e.CreateConstInBoundsGEP1_64(e.getInt8Ty(), launch_, offsetof(mneme_cpu_launch, args)),
        "args");
    for (unsigned index = 0; index < body_.byValue.size(); ++index) {
      Type* byValue = body_.byValue[index];
      Type* type = byValue ? byValue : body_.function->getArg(index)->getType();
      argSizes_.push_back(layout.getTypeAllocSize(type));
      Value* source =
          e.CreateLoad(e.getPtrTy(), e.CreateConstInBoundsGEP1_64(e.getPtrTy(), pointers, index));
      // The launch promises no alignment of what its pointers point to.
      arguments_.push_back(byValue ? copyOf(e, source, type, index)
                                   : e.CreateAlignedLoad(type, source, Align(1)));
      arguments_.back()->setName(body_.function->getArg(index)->getName());
    }
  }

  Value* copyOf(Emit& e, Value* source, Type* type, unsigned index) {
    const DataLayout& layout = module_.getDataLayout();
    AllocaInst* copy = allocate(type, index);
    e.CreateMemCpy(copy, copy->getAlign(), source, Align(1), layout.getTypeAllocSize(type));
    return copy;
  }

  AllocaInst* allocate(Type* type, unsigned index) {
    IRBuilder<> builder(&function_->getEntryBlock(), function_->getEntryBlock().begin());
    AllocaInst* copy = builder.CreateAlloca(type);
    MaybeAlign wanted = body_.function->getParamAlign(index);
    copy->setAlignment(std::max({copy->getAlign(), wanted.valueOrOne(), Align(16)}));
    return copy;
  }

  void callBody(Emit& e) {
    SmallVector<Value*> operands(arguments_.begin(), arguments_.end());
    for (unsigned index = 0; index < body_.byValue.size(); ++index)
      if (isLoop_ && body_.isWritten[index]) {
        AllocaInst* copy = allocate(body_.byValue[index], index);
        e.CreateMemCpy(copy, copy->getAlign(), arguments_[index], Align(16),
                       module_.getDataLayout().getTypeAllocSize(body_.byValue[index]));
        operands[index] = copy;
      }
    operands.push_back(values_.context);
    for (Value** group : {values_.thread, values_.block, values_.blockSize, values_.gridSize})
      operands.append(group, group + 3);
    CallInst* call = e.CreateCall(body_.function, operands);
    InlineFunctionInfo info;
    InlineFunction(*call, info);
    body_.function->eraseFromParent();
  }

  /// for z, y, x: every block has at least one thread, so the test comes last.
  void buildLoops(Emit& e) {
    LLVMContext& context = module_.getContext();
    BasicBlock* exit = e.GetInsertBlock()->splitBasicBlock(e.GetInsertPoint(), "exit");
    BasicBlock* before = &function_->getEntryBlock();
    BasicBlock* headers[3];
    PHINode* indices[3];
    before->getTerminator()->eraseFromParent();
    for (int d = 2; d >= 0; --d) {
      headers[d] = BasicBlock::Create(context, Twine("thread.") + kAxes[d], function_, exit);
      IRBuilder<>(before).CreateBr(headers[d]);
      indices[d] = IRBuilder<>(headers[d]).CreatePHI(e.i(32), 2, Twine("tid.") + kAxes[d]);
      indices[d]->addIncoming(e.getInt32(0), before);
      values_.thread[d] = indices[d];
      before = headers[d];
    }
    for (int d = 0; d < 3; ++d) {
      BasicBlock* latch = BasicBlock::Create(context, Twine("next.") + kAxes[d], function_, exit);
      IRBuilder<>(before).CreateBr(latch);
      IRBuilder<> builder(latch);
      Value* next = builder.CreateAdd(indices[d], builder.getInt32(1), "", true, true);
      BasicBlock* after = BasicBlock::Create(context, "", function_, exit);
      builder.CreateCondBr(builder.CreateICmpULT(next, values_.blockSize[d]), headers[d], after);
      indices[d]->addIncoming(next, latch);
      before = after;
    }
    IRBuilder<>(before).CreateBr(exit);
    e.SetInsertPoint(headers[0]->getTerminator());
    if (hasOtherFunctions_)
      for (unsigned d = 0; d < 3; ++d)
        e.CreateStore(values_.thread[d],
                      e.CreateConstInBoundsGEP1_64(e.getInt8Ty(), values_.context,
                                                   offsetof(mneme_cpu_context, threadId) + 4 * d));
    callBody(e);
  }

  uint64_t localBytes() const {
    uint64_t sum = 1024; // registers the code generator spills
    for (Instruction& instruction : instructions(*function_))
      if (auto* alloca = dyn_cast<AllocaInst>(&instruction))
        if (auto size = alloca->getAllocationSize(module_.getDataLayout()))
          sum += size->getFixedValue() + alloca->getAlign().value();
    return sum;
  }

  Module& module_;
  const Body& body_;
  bool isLoop_;
  bool hasOtherFunctions_;
  Function* function_ = nullptr;
  Value* launch_ = nullptr;
  ThreadValues values_;
  std::vector<Value*> arguments_;
  std::vector<uint64_t> argSizes_;
};

} // namespace

KernelEntry buildEntry(Module& module, Function& kernel, bool isLoop, uint64_t staticSharedBytes) {
  bool hasOtherFunctions = hasIndirectCall(kernel);
  for (Function& function : module)
    if (!function.isDeclaration() && &function != &kernel &&
        !function.hasFnAttribute(Attribute::StrictFP)) {
      hasOtherFunctions = true;
      resolveSpecialRegisters(function, nullptr, staticSharedBytes);
    }
  if (hasOtherFunctions)
    if (Function* exit = module.getFunction("llvm.nvvm.exit"))
      for (User* user : exit->users())
        if (auto* call = dyn_cast<CallInst>(user); call && call->getFunction() != &kernel)
          throwUnsupported("'exit' in a function that is not inlined", *call->getFunction());
  Body body = makeBody(module, kernel, staticSharedBytes);
  return EntryBuilder(module, body, isLoop, hasOtherFunctions).build();
}

} // namespace mneme::compile::cpu
