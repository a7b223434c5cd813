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
#include "runtime/compile/cpu/phases.h"
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
  bool isStepwise = false;    ///< executes one iteration of a strided loop, see isolateIteration
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
void runInPhases(Body& body, KernelTraits& traits, bool hasOtherFunctions, uint64_t& scratchBytes) {
  PhaseArguments arguments;
  arguments.context = unsigned(body.byValue.size());
  for (unsigned index = 0; index < body.byValue.size(); ++index)
    arguments.writtenStructs.push_back(body.isWritten[index] ? body.byValue[index] : nullptr);
  bool mayCut = traits.isLoop && traits.mayRegroup && !body.isStepwise && !hasOtherFunctions &&
                body.isWritten.none();
  Function* whole = nullptr;
  if (!traits.isPhased && mayCut) {
    ValueToValueMapTy values;
    whole = CloneFunction(body.function, values);
    traits.isPhased = cutUniformLoops(*body.function, arguments);
  }
  if (!traits.isPhased) {
    if (whole)
      whole->eraseFromParent();
    return;
  }
  PhaseStep step = makeStep(*body.function, arguments);
  body.function = makeRounds(step, arguments, hasOtherFunctions, whole);
  scratchBytes = step.scratchBytes;
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
  EntryBuilder(Module& module, const Body& body, const KernelTraits& traits, bool hasOtherFunctions)
      : module_(module), body_(body), isLoop_(traits.isLoop), isPhased_(traits.isPhased),
        hasOtherFunctions_(hasOtherFunctions) {}

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
    if (isLoop_ && !isPhased_)
      buildLoops(emit);
    else
      callBody(emit);
    inlineBody();
    KernelEntry result;
    result.function = function_;
    result.argSizes = argSizes_;
    result.localBytes = hasOtherFunctions_ ? 0 : localBytes();
    return result;
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

  /// Only when the loops are complete: inlining simplifies with what it sees of the indices.
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
  uint64_t scratchBytes = 0;
  KernelTraits shape = traits;
  runInPhases(body, shape, hasOtherFunctions, scratchBytes);
  KernelEntry entry = EntryBuilder(module, body, shape, hasOtherFunctions).build();
  entry.scratchBytes = scratchBytes;
  return entry;
}

} // namespace mneme::compile::cpu
