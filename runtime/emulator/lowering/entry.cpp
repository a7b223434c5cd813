// What executes the threads of a block: a loop around the kernel's body, or the body of one thread.
#include <cstddef>

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "runtime/core/abi/cpu_image.h"
#include "runtime/emulator/lowering/body.h"
#include "runtime/emulator/lowering/emit.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

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
  EntryBuilder(Module& module, const Body& body, const KernelTraits& traits, bool hasOtherFunctions)
      : module_(module), body_(body), isLoop_(traits.isLoop), isPhased_(traits.isPhased),
        hasOtherFunctions_(hasOtherFunctions) {}

  void build(KernelEntry& result) {
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
    if (isLoop_ && !isPhased_)
      buildLoops(emit);
    else
      callBody(emit);
    inlineBody();
    result.function = function_;
    result.argSizes = argSizes_;
    result.localBytes = hasOtherFunctions_ ? 0 : localBytes();
  }

private:
  void loadLaunch(Emit& e) {
    launch_ = e.contextField(values_.context, offsetof(mneme_cpu_context, launch), e.getPtrTy());
    // Limits of every device: 1024 threads along each axis, 2^31 - 1 blocks.
    constexpr uint32_t kThreads[] = {1025, 1025, 1025};
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
      else if (isPhased_)
        values_.thread[d] = PoisonValue::get(e.i(32)); // the body has its own loops
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
      if (isLoop_ && !isPhased_ && body_.isWritten[index]) {
        AllocaInst* copy = allocate(body_.byValue[index], index);
        e.CreateMemCpy(copy, copy->getAlign(), arguments_[index], Align(16),
                       module_.getDataLayout().getTypeAllocSize(body_.byValue[index]));
        operands[index] = copy;
      }
    operands.push_back(values_.context);
    for (Value** group : {values_.thread, values_.block, values_.blockSize, values_.gridSize})
      operands.append(group, group + 3);
    operands.push_back(iteration_ ? iteration_ : e.getInt64(0));
    call_ = e.CreateCall(body_.function, operands);
    if (body_.isStepwise)
      anyNext_ = e.CreateOr(any_[0], call_);
  }

  /// The loops must be complete: inlining simplifies with what it sees of the indices.
  void inlineBody() {
    InlineFunctionInfo info;
    InlineFunction(*call_, info);
    body_.function->eraseFromParent();
  }

  /// for z, y, x: every block has at least one thread, so the tests come last. Around them, for
  /// stepwise bodies, the iterations: as many as any thread has.
  void buildLoops(Emit& e) {
    BasicBlock* exit = e.GetInsertBlock()->splitBasicBlock(e.GetInsertPoint(), "exit");
    BasicBlock* before = &function_->getEntryBlock();
    before->getTerminator()->eraseFromParent();
    BasicBlock* outer = before;
    PHINode* iteration = nullptr;
    if (body_.isStepwise) {
      outer = newBlock("iteration", exit);
      IRBuilder<>(before).CreateBr(outer);
      iteration = IRBuilder<>(outer).CreatePHI(e.getInt64Ty(), 2, "iteration");
      iteration->addIncoming(e.getInt64(0), before);
      iteration_ = iteration;
    }
    BasicBlock* inner = openLoops(e, outer, exit);
    BasicBlock* innerEnd = newBlock("thread.end", exit);
    Instruction* jump = IRBuilder<>(inner).CreateBr(innerEnd);
    e.SetInsertPoint(jump);
    if (hasOtherFunctions_)
      for (unsigned d = 0; d < 3; ++d)
        e.CreateStore(values_.thread[d],
                      e.CreateConstInBoundsGEP1_64(e.getInt8Ty(), values_.context,
                                                   offsetof(mneme_cpu_context, threadId) + 4 * d));
    callBody(e);
    BasicBlock* after = closeLoops(e, innerEnd, exit);
    if (!body_.isStepwise) {
      IRBuilder<>(after).CreateBr(exit);
      return;
    }
    IRBuilder<> builder(after);
    iteration->addIncoming(builder.CreateAdd(iteration, builder.getInt64(1), "", true, true),
                           after);
    builder.CreateCondBr(anyNext_, outer, exit);
  }

  BasicBlock* newBlock(const Twine& name, BasicBlock* position) {
    return BasicBlock::Create(module_.getContext(), name, function_, position);
  }

  /// Headers with indices from 0, and whether any thread had work so far.
  BasicBlock* openLoops(Emit& e, BasicBlock* before, BasicBlock* exit) {
    for (int d = 2; d >= 0; --d) {
      headers_[d] = newBlock(Twine("thread.") + kAxes[d], exit);
      IRBuilder<>(before).CreateBr(headers_[d]);
      IRBuilder<> builder(headers_[d]);
      PHINode* index = builder.CreatePHI(e.i(32), 2, Twine("tid.") + kAxes[d]);
      index->addIncoming(e.getInt32(0), before);
      values_.thread[d] = index;
      if (body_.isStepwise) {
        any_[d] = builder.CreatePHI(e.i(1), 2, "any");
        any_[d]->addIncoming(d == 2 ? static_cast<Value*>(e.getFalse()) : any_[d + 1], before);
      }
      before = headers_[d];
    }
    return before;
  }

  /// Returns the block after the outermost loop.
  BasicBlock* closeLoops(Emit& e, BasicBlock* latch, BasicBlock* exit) {
    for (int d = 0; d < 3; ++d) {
      IRBuilder<> builder(latch);
      auto* index = cast<PHINode>(values_.thread[d]);
      Value* next = builder.CreateAdd(index, builder.getInt32(1), "", true, true);
      BasicBlock* after = newBlock(Twine("next.") + kAxes[d], exit);
      builder.CreateCondBr(builder.CreateICmpULT(next, values_.blockSize[d]), headers_[d], after);
      index->addIncoming(next, latch);
      if (body_.isStepwise)
        any_[d]->addIncoming(anyNext_, latch);
      latch = after;
    }
    return latch;
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
  bool isPhased_;
  bool hasOtherFunctions_;
  Function* function_ = nullptr;
  Value* launch_ = nullptr;
  Value* iteration_ = nullptr;
  Value* anyNext_ = nullptr;
  CallInst* call_ = nullptr;
  BasicBlock* headers_[3] = {};
  PHINode* any_[3] = {};
  ThreadValues values_;
  std::vector<Value*> arguments_;
  std::vector<uint64_t> argSizes_;
};

} // namespace

void wrapBody(Module& module, const Body& body, const KernelTraits& traits, bool hasOtherFunctions,
              KernelEntry& entry) {
  EntryBuilder(module, body, traits, hasOtherFunctions).build(entry);
}

} // namespace mneme::compile::cpu
