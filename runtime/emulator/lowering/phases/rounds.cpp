// Writes the loops that let all threads of a block take a step (phases.h).
#include <cstddef>

#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "runtime/core/abi/cpu_image.h"
#include "runtime/emulator/lowering/emit.h"
#include "runtime/emulator/lowering/phases/phases.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

constexpr const char* kAxes[] = {"x", "y", "z"};
// Every phase becomes a copy of the part of the kernel it reaches.
constexpr uint64_t kLargestRounds = 200000;
constexpr unsigned kMostSeparatePhases = 16;
// With fewer neighbours it does not pay to compute them together.
constexpr uint32_t kFewThreads = 8;

class RoundsBuilder {
public:
  RoundsBuilder(const PhaseStep& step, const PhaseArguments& arguments, bool storesThreadIndex,
                Function* whole)
      : step_(step), arguments_(arguments), storesThreadIndex_(storesThreadIndex), whole_(whole),
        context_(step.function->getContext()), entryBuilder_(context_) {
    keepsStates_ = step.isFree || !step.isUniform || step.hasEarlyExit || !hasSeparatePhases();
  }

  Function* build() {
    SmallVector<Type*> types(step_.function->getFunctionType()->params());
    types.truncate(step_.firstExtra);
    function_ =
        Function::Create(FunctionType::get(Type::getVoidTy(context_), types, false),
                         GlobalValue::InternalLinkage, "mneme.rounds", step_.function->getParent());
    function_->setDoesNotThrow();
    for (Argument& argument : function_->args()) {
      Argument* original = step_.function->getArg(argument.getArgNo());
      argument.setName(original->getName());
      for (auto kind : {Attribute::NoAlias, Attribute::ReadOnly})
        if (original->hasAttribute(kind))
          argument.addAttr(kind);
    }
    buildEntry();
    buildDispatch();
    DominatorTree dominators(*function_);
    PromoteMemToReg(variables_, dominators);
    for (CallInst* call : calls_) {
      InlineFunctionInfo info;
      InlineFunction(*call, info);
    }
    step_.function->eraseFromParent();
    if (whole_)
      whole_->eraseFromParent();
    return function_;
  }

private:
  AllocaInst* variable(Type* type, const Twine& name) {
    variables_.push_back(entryBuilder_.CreateAlloca(type, nullptr, name));
    return variables_.back();
  }

  BasicBlock* block(const Twine& name) { return BasicBlock::Create(context_, name, function_); }
  Value* size(unsigned axis) { return function_->getArg(arguments_.blockSize(axis)); }

  void buildEntry() {
    IRBuilder<>& b = entryBuilder_;
    b.SetInsertPoint(block("entry"));
    Type* i32 = b.getInt32Ty();
    next_ = variable(i32, "next");
    common_ = variable(i32, "common");
    count_ = variable(i32, "count");
    arrivals_ = variable(i32, "arrivals");
    for (Type* type : step_.uniforms)
      uniforms_.push_back(variable(type, "uniform"));
    Value* place = b.CreateConstInBoundsGEP1_64(
        b.getInt8Ty(), function_->getArg(arguments_.context), offsetof(mneme_cpu_context, scratch));
    auto* scratch = b.CreateLoad(b.getPtrTy(), place, "scratch");
    scratch->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(context_, {}));
    scratch_ = scratch;
    Value* threads = b.CreateMul(b.CreateMul(size(0), size(1)), size(2));
    threads_ = b.CreateZExt(threads, b.getInt64Ty(), "threads");
    states_ = b.CreateInBoundsPtrAdd(
        scratch_, b.CreateMul(threads_, b.getInt64(step_.stateOffset), "", true, true), "states");
    b.CreateStore(b.getInt32(0), count_);
    b.CreateStore(b.getInt32(0), arrivals_);
    for (AllocaInst* uniform : uniforms_)
      b.CreateStore(PoisonValue::get(uniform->getAllocatedType()), uniform);
  }

  bool hasSeparatePhases() const {
    if (step_.isFree)
      return true;
    uint64_t bodies = step_.barrierCount + 1;
    uint64_t limit = step_.isUniform ? kMostSeparatePhases * 4 : kMostSeparatePhases;
    return bodies <= limit && bodies * step_.function->getInstructionCount() <= kLargestRounds;
  }

  void buildDispatch() {
    BasicBlock* dispatch = block("dispatch");
    BasicBlock* exit = block("exit");
    IRBuilder<>(exit).CreateRetVoid();
    buildRound("start", 0, dispatch);
    if (whole_)
      entryBuilder_.CreateCondBr(
          entryBuilder_.CreateICmpULT(size(0), entryBuilder_.getInt32(kFewThreads)),
          buildWhole(exit), first_);
    else
      entryBuilder_.CreateBr(first_);
    IRBuilder<> b(dispatch);
    Value* next = b.CreateLoad(b.getInt32Ty(), next_);
    bool isSeparate = hasSeparatePhases();
    BasicBlock* mixed = nullptr;
    if (!(step_.isUniform || step_.isFree) || !isSeparate)
      mixed = buildRound("mixed", -1, dispatch);
    if (!isSeparate) {
      b.CreateCondBr(b.CreateIsNull(next), exit, mixed);
      return;
    }
    if (mixed) {
      // Where all are at the same barrier, all numbers or'ed are all numbers and'ed.
      BasicBlock* together = block("together");
      Value* isDone = b.CreateIsNull(next);
      Value* isTogether = b.CreateICmpEQ(next, b.CreateLoad(b.getInt32Ty(), common_));
      b.CreateCondBr(b.CreateOr(isDone, isTogether), together, mixed);
      b.SetInsertPoint(together);
    }
    SwitchInst* choice = b.CreateSwitch(next, exit, step_.barrierCount);
    for (unsigned state = 1; state <= step_.barrierCount; ++state)
      choice->addCase(b.getInt32(state), buildRound("phase", int(state), dispatch));
  }

  /// One step of every live thread; from `state`, or with -1 from each thread's own.
  BasicBlock* buildRound(const Twine& name, int state, BasicBlock* dispatch) {
    BasicBlock* start = block(name);
    if (!first_)
      first_ = start;
    IRBuilder<> b(start);
    Value* count = b.CreateLoad(b.getInt32Ty(), count_);
    Value* arrivals = b.CreateLoad(b.getInt32Ty(), arrivals_);
    SmallVector<Value*> uniforms;
    for (unsigned index = 0; index < uniforms_.size(); ++index)
      uniforms.push_back(PoisonValue::get(step_.uniforms[index]));
    for (unsigned index : uniformsAt(state))
      uniforms[index] = b.CreateLoad(step_.uniforms[index], uniforms_[index]);
    if (keepsStates_)
      for (unsigned index = 0; index < uniforms_.size(); ++index)
        if (isCollected(index))
          b.CreateStore(Constant::getNullValue(step_.uniforms[index]), uniforms_[index]);
    for (AllocaInst* counter : {next_, count_, arrivals_})
      b.CreateStore(b.getInt32(counter == next_ && step_.isFree ? ~0u : 0), counter);
    b.CreateStore(b.getInt32(~0u), common_);

    PHINode* index[3];
    BasicBlock* headers[3];
    openLoops(b, index, headers);
    Value* row = b.CreateAdd(b.CreateMul(index[2], size(1)), index[1]);
    Value* number = b.CreateAdd(b.CreateMul(row, size(0)), index[0]);
    Value* thread = b.CreateZExt(number, b.getInt64Ty(), "thread");
    BasicBlock* latch = block("thread.end");
    Value* own = nullptr;
    BasicBlock* skipped = nullptr;
    if (keepsStates_ && state != 0) {
      own = b.CreateLoad(b.getInt32Ty(), stateOf(b, thread), "state");
      BasicBlock* live = block("live");
      Value* isLive =
          step_.isFree ? b.CreateICmpEQ(own, b.getInt32(unsigned(state))) : b.CreateIsNotNull(own);
      b.CreateCondBr(isLive, live, latch);
      skipped = b.GetInsertBlock();
      b.SetInsertPoint(live);
    }
    if (storesThreadIndex_)
      storeThreadIndex(b, index);
    SmallVector<Value*> operands;
    for (unsigned argument = 0; argument < step_.firstExtra; ++argument)
      operands.push_back(function_->getArg(argument));
    for (unsigned axis = 0; axis < 3; ++axis)
      operands[arguments_.thread(axis)] = index[axis];
    operands.append({state < 0 ? own : b.getInt32(unsigned(state)), count, arrivals, scratch_,
                     thread, threads_});
    append_range(operands, uniforms);
    CallInst* call = b.CreateCall(step_.function, operands);
    calls_.push_back(call);
    if (step_.isFree)
      takeFreeResult(b, call, thread, latch, own, skipped);
    else
      takeResult(b, call, thread);
    b.CreateBr(latch);
    closeLoops(latch, index, headers, dispatch);
    return start;
  }

  /// One thread after the other from beginning to end.
  BasicBlock* buildWhole(BasicBlock* exit) {
    BasicBlock* start = block("few");
    IRBuilder<> b(start);
    PHINode* index[3];
    BasicBlock* headers[3];
    openLoops(b, index, headers);
    SmallVector<Value*> operands;
    for (Argument& argument : function_->args())
      operands.push_back(&argument);
    for (unsigned axis = 0; axis < 3; ++axis)
      operands[arguments_.thread(axis)] = index[axis];
    calls_.push_back(b.CreateCall(whole_, operands));
    BasicBlock* latch = block("thread.end");
    b.CreateBr(latch);
    closeLoops(latch, index, headers, exit);
    return start;
  }

  ArrayRef<unsigned> uniformsAt(int state) {
    if (state >= 0)
      return step_.uniformsAt[size_t(state)];
    if (all_.empty())
      for (unsigned index = 0; index < uniforms_.size(); ++index)
        all_.push_back(index);
    return all_;
  }

  /// Integers of threads that agree are or'ed, which vectors can do.
  bool isCollected(unsigned index) const { return step_.uniforms[index]->isIntegerTy(); }

  Value* stateOf(IRBuilder<>& b, Value* thread) {
    return b.CreateInBoundsGEP(b.getInt32Ty(), states_, thread);
  }

  void storeThreadIndex(IRBuilder<>& b, PHINode** index) {
    for (unsigned axis = 0; axis < 3; ++axis)
      b.CreateStore(index[axis], b.CreateConstInBoundsGEP1_64(
                                     b.getInt8Ty(), function_->getArg(arguments_.context),
                                     offsetof(mneme_cpu_context, threadId) + 4 * axis));
  }

  /// What threads leave, with those that had no turn: collected in one place, as vectors can.
  void takeFreeResult(IRBuilder<>& b, CallInst* result, Value* thread, BasicBlock* latch,
                      Value* own, BasicBlock* skipped) {
    Value* next = b.CreateExtractValue(result, 0);
    b.CreateStore(next, stateOf(b, thread));
    IRBuilder<> end(latch);
    const auto merge = [&](Value* made, Value* other) -> Value* {
      if (!skipped)
        return made;
      PHINode* both = end.CreatePHI(made->getType(), 2);
      both->addIncoming(made, b.GetInsertBlock());
      both->addIncoming(other, skipped);
      return both;
    };
    Value* state = merge(next, own);
    SmallVector<Value*> values;
    for (unsigned index = 0; index < uniforms_.size(); ++index) {
      Constant* none = Constant::getNullValue(step_.uniforms[index]);
      Value* isHome = b.CreateICmpEQ(next, b.getInt32(step_.homes[index]));
      values.push_back(
          merge(b.CreateSelect(isHome, b.CreateExtractValue(result, 3 + index), none), none));
    }
    state = end.CreateSelect(end.CreateIsNull(state), end.getInt32(~0u), state);
    Value* least = end.CreateLoad(end.getInt32Ty(), next_);
    end.CreateStore(end.CreateBinaryIntrinsic(Intrinsic::umin, least, state), next_);
    for (unsigned index = 0; index < uniforms_.size(); ++index) {
      Value* old = end.CreateLoad(step_.uniforms[index], uniforms_[index]);
      end.CreateStore(end.CreateOr(old, values[index]), uniforms_[index]);
    }
  }

  void takeResult(IRBuilder<>& b, CallInst* result, Value* thread) {
    auto combine = [&](AllocaInst* into, Instruction::BinaryOps operation, Value* value) {
      Value* old = b.CreateLoad(value->getType(), into);
      b.CreateStore(b.CreateBinOp(operation, old, value), into);
    };
    Value* next = b.CreateExtractValue(result, 0);
    if (keepsStates_) {
      b.CreateStore(next, stateOf(b, thread));
      combine(next_, Instruction::Or, next);
      if (!step_.isUniform)
        combine(common_, Instruction::And,
                b.CreateSelect(b.CreateIsNull(next), b.getInt32(~0u), next));
    } else {
      b.CreateStore(next, next_);
    }
    if (step_.reduces) {
      combine(count_, Instruction::Add, b.CreateExtractValue(result, 1));
      combine(arrivals_, Instruction::Add, b.CreateExtractValue(result, 2));
    }
    // Threads that go on agree on these; those that end have none.
    for (unsigned index = 0; index < uniforms_.size(); ++index) {
      Value* value = b.CreateExtractValue(result, 3 + index);
      if (keepsStates_ && isCollected(index)) {
        Value* none = Constant::getNullValue(value->getType());
        combine(uniforms_[index], Instruction::Or,
                b.CreateSelect(b.CreateIsNotNull(next), value, none));
        continue;
      }
      if (keepsStates_)
        value = b.CreateSelect(b.CreateIsNotNull(next), value,
                               b.CreateLoad(value->getType(), uniforms_[index]));
      b.CreateStore(value, uniforms_[index]);
    }
  }

  /// Every block has at least one thread, so the tests come last.
  void openLoops(IRBuilder<>& b, PHINode** index, BasicBlock** headers) {
    for (int axis = 2; axis >= 0; --axis) {
      headers[axis] = block(Twine("thread.") + kAxes[axis]);
      BasicBlock* before = b.GetInsertBlock();
      b.CreateBr(headers[axis]);
      b.SetInsertPoint(headers[axis]);
      index[axis] = b.CreatePHI(b.getInt32Ty(), 2, Twine("tid.") + kAxes[axis]);
      index[axis]->addIncoming(b.getInt32(0), before);
    }
  }

  void closeLoops(BasicBlock* latch, PHINode** index, BasicBlock** headers, BasicBlock* exit) {
    for (unsigned axis = 0; axis < 3; ++axis) {
      IRBuilder<> b(latch);
      Value* next = b.CreateAdd(index[axis], b.getInt32(1), "", true, true);
      BasicBlock* after = axis == 2 ? exit : block(Twine("next.") + kAxes[axis]);
      b.CreateCondBr(b.CreateICmpULT(next, size(axis)), headers[axis], after);
      index[axis]->addIncoming(next, latch);
      latch = after;
    }
  }

  const PhaseStep& step_;
  const PhaseArguments& arguments_;
  bool storesThreadIndex_;
  Function* whole_;
  bool keepsStates_ = false;
  LLVMContext& context_;
  IRBuilder<> entryBuilder_;
  Function* function_ = nullptr;
  BasicBlock* first_ = nullptr;
  Value* scratch_ = nullptr;
  Value* states_ = nullptr;
  Value* threads_ = nullptr;
  AllocaInst* next_ = nullptr;
  AllocaInst* common_ = nullptr;
  AllocaInst* count_ = nullptr;
  AllocaInst* arrivals_ = nullptr;
  std::vector<AllocaInst*> uniforms_;
  std::vector<AllocaInst*> variables_;
  std::vector<CallInst*> calls_;
  std::vector<unsigned> all_;
};

} // namespace

Function* makeRounds(const PhaseStep& step, const PhaseArguments& arguments, bool storesThreadIndex,
                     Function* whole) {
  return RoundsBuilder(step, arguments, storesThreadIndex, whole).build();
}

} // namespace mneme::compile::cpu
