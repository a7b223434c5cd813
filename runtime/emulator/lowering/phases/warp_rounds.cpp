// Writes the loops that let the lanes of a block take steps, warp by warp (phases.h).
#include <cstddef>

#include <llvm/IR/Dominators.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "runtime/core/abi/cpu_image.h"
#include "runtime/emulator/lowering/emit.h"
#include "runtime/emulator/lowering/phases/complete.h"
#include "runtime/emulator/lowering/phases/phases.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

// Every phase becomes a copy of the part of the kernel it reaches, often a vectorised one, too. A
// large one gains little by that.
constexpr unsigned kMostPhases = 64;
constexpr unsigned kLargestPhase = 120;

class WarpRoundsBuilder {
public:
  WarpRoundsBuilder(const PhaseStep& step, const PhaseArguments& arguments, bool storesThreadIndex,
                    unsigned warpSize)
      : step_(step), arguments_(arguments), storesThreadIndex_(storesThreadIndex),
        warpSize_(warpSize), context_(step.function->getContext()), b_(context_) {}

  Function* build() {
    makeFunction();
    buildEntry();
    BasicBlock* exit = block("exit");
    IRBuilder<>(exit).CreateRetVoid();
    buildRound(exit);
    DominatorTree dominators(*function_);
    PromoteMemToReg(variables_, dominators);
    for (CallInst* call : calls_) {
      InlineFunctionInfo info;
      InlineFunction(*call, info);
    }
    step_.function->eraseFromParent();
    return function_;
  }

private:
  struct LaneLoop {
    PHINode* lane = nullptr;
    Value* count = nullptr;
    Value* number = nullptr; ///< of the thread
    Value* thread = nullptr; ///< the same with 64 bits
    BasicBlock* latch = nullptr;
  };

  void makeFunction() {
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
  }

  BasicBlock* block(const Twine& name) { return BasicBlock::Create(context_, name, function_); }
  Value* contextArgument() { return function_->getArg(arguments_.context); }
  Value* size(unsigned axis) { return function_->getArg(arguments_.blockSize(axis)); }
  AllocaInst* variable(const Twine& name) {
    variables_.push_back(b_.CreateAlloca(b_.getInt32Ty(), nullptr, name));
    return variables_.back();
  }
  Value* load(AllocaInst* variable) { return b_.CreateLoad(b_.getInt32Ty(), variable); }

  Value* service(size_t offset, ArrayRef<Value*> operands) {
    SmallVector<Value*> all{contextArgument()};
    append_range(all, operands);
    SmallVector<Type*> types;
    for (Value* operand : all)
      types.push_back(operand->getType());
    FunctionCallee callee = function_->getParent()->getOrInsertFunction(
        kServicePrefix + std::to_string(offset), FunctionType::get(b_.getInt32Ty(), types, false));
    return b_.CreateCall(callee, all);
  }

  void buildEntry() {
    b_.SetInsertPoint(block("entry"));
    state_ = variable("state");
    any_ = variable("any");
    all_ = variable("all");
    count_ = variable("count");
    arrivals_ = variable("arrivals");
    oldCount_ = variable("count.before");
    oldArrivals_ = variable("arrivals.before");
    for (AllocaInst* counter : {count_, arrivals_, oldCount_, oldArrivals_})
      b_.CreateStore(b_.getInt32(0), counter);
    Value* place = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), contextArgument(),
                                                 offsetof(mneme_cpu_context, scratch));
    auto* scratch = b_.CreateLoad(b_.getPtrTy(), place, "scratch");
    scratch->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(context_, {}));
    scratch_ = scratch;
    threadCount_ = b_.CreateMul(b_.CreateMul(size(0), size(1)), size(2));
    threads_ = b_.CreateZExt(threadCount_, b_.getInt64Ty(), "threads");
    warps_ = b_.CreateUDiv(b_.CreateAdd(threadCount_, b_.getInt32(warpSize_ - 1)),
                           b_.getInt32(warpSize_), "warps");
    next_ = laneField(MNEME_LANE_NEXT);
    turn_ = laneField(MNEME_LANE_TURN);
  }

  Value* laneField(unsigned field) {
    Value* offset =
        b_.CreateMul(threads_, b_.getInt64(step_.laneOffset + 4 * field), "", true, true);
    return b_.CreateInBoundsPtrAdd(scratch_, offset);
  }

  /// Warp after warp; then the block meets.
  void buildRound(BasicBlock* exit) {
    BasicBlock* round = block("round");
    BasicBlock* warp = block("warp");
    BasicBlock* dispatch = block("dispatch");
    BasicBlock* next = block("warp.end");
    BasicBlock* end = block("round.end");
    b_.CreateBr(round);
    b_.SetInsertPoint(round);
    b_.CreateBr(warp);
    b_.SetInsertPoint(warp);
    warp_ = b_.CreatePHI(b_.getInt32Ty(), 2, "warp");
    warp_->addIncoming(b_.getInt32(0), round);
    startWarp();
    b_.CreateBr(dispatch);
    buildDispatch(*dispatch, *next);
    b_.SetInsertPoint(next);
    Value* other = b_.CreateAdd(warp_, b_.getInt32(1), "", true, true);
    warp_->addIncoming(other, next);
    b_.CreateCondBr(b_.CreateICmpULT(other, warps_), warp, end);
    b_.SetInsertPoint(end);
    endRound(*round, *exit);
  }

  /// What the lanes of a warp have in common, where they are in one row of the block.
  void startWarp() {
    first_ = b_.CreateMul(warp_, b_.getInt32(warpSize_), "first", true, true);
    lanes_ = b_.CreateBinaryIntrinsic(Intrinsic::umin, b_.CreateSub(threadCount_, first_),
                                      b_.getInt32(warpSize_), nullptr, "lanes");
    Value* row = b_.CreateUDiv(first_, size(0));
    place_[0] = b_.CreateURem(first_, size(0));
    place_[1] = b_.CreateURem(row, size(1));
    place_[2] = b_.CreateUDiv(row, size(1));
    b_.CreateStore(service(offsetof(mneme_cpu_services, lanes_start), {warp_}), state_);
  }

  /// Lets lanes take steps until none can.
  void buildDispatch(BasicBlock& dispatch, BasicBlock& next) {
    b_.SetInsertPoint(&dispatch);
    BasicBlock* mixed = block("mixed");
    BasicBlock* apart = block("apart");
    SwitchInst* choice = b_.CreateSwitch(load(state_), apart, step_.barrierCount + 3);
    choice->addCase(b_.getInt32(MNEME_ROUND_WAITS), &next);
    choice->addCase(b_.getInt32(MNEME_ROUND_MIXED), mixed);
    b_.SetInsertPoint(apart); // all lanes are at one place that has no loop of its own
    storeLanes(b_.CreateAdd(load(state_), b_.getInt32(1)), turn_);
    b_.CreateBr(mixed);
    buildMixed(*mixed, dispatch);
    const unsigned states = step_.barrierCount + 1;
    phases_.resize(states);
    completions_.resize(states);
    for (unsigned state = 0; state < states; ++state)
      if (states <= kMostPhases && step_.phases[state].instructions <= kLargestPhase) {
        phases_[state] = block("phase");
        choice->addCase(b_.getInt32(state), phases_[state]);
      }
    for (unsigned state = 1; state < states; ++state)
      if (phases_[state] && isCompleteWhenTogether(step_.meetings[state - 1], warpSize_))
        buildCompletion(state);
    for (unsigned state = 0; state < states; ++state)
      if (phases_[state])
        buildPhase(state, dispatch);
  }

  /// What a whole warp finds behind a meeting; its next phase follows.
  void buildCompletion(unsigned state) {
    completions_[state] = block("together");
    b_.SetInsertPoint(completions_[state]);
    Value* first = b_.CreateZExt(first_, b_.getInt64Ty());
    emitCompletion(b_, step_.meetings[state - 1], step_.hasFlag[state - 1], [&](unsigned field) {
      return b_.CreateInBoundsGEP(b_.getInt32Ty(), laneField(field), first);
    });
    b_.CreateBr(phases_[state]);
  }

  /// One step of a whole warp whose lanes are all at one place.
  void buildPhase(unsigned state, BasicBlock& dispatch) {
    const std::optional<unsigned> only = step_.phases[state].onlyNext;
    b_.SetInsertPoint(phases_[state]);
    LaneLoop loop = openLoop(b_.getInt32(warpSize_), !only, "thread.x");
    Value* index[3] = {b_.CreateAdd(place_[0], loop.lane, "tid.x", true, true), place_[1],
                       place_[2]};
    takeStep(loop, index, b_.getInt32(state), !only);
    b_.CreateBr(loop.latch);
    closeLoop(loop);
    mark(*loop.latch->getTerminator(), true);
    if (only && completions_[*only]) {
      b_.CreateBr(completions_[*only]);
      return;
    }
    if (only) {
      storeLanes(b_.getInt32(*only), next_);
      askDevice(b_.getInt32(*only), b_.getInt32(*only), dispatch);
      return;
    }
    Value* any = load(any_);
    Value* all = load(all_);
    BasicBlock* same = block("same");
    BasicBlock* ask = block("ask");
    b_.CreateCondBr(b_.CreateICmpEQ(any, all), same, ask);
    b_.SetInsertPoint(same);
    SwitchInst* choice = b_.CreateSwitch(any, ask);
    for (unsigned next = 1; next < completions_.size(); ++next)
      if (completions_[next])
        choice->addCase(b_.getInt32(next), completions_[next]);
    b_.SetInsertPoint(ask);
    askDevice(any, all, dispatch);
  }

  /// One step of those lanes of a warp whose turn it is, of each from its own place.
  void buildMixed(BasicBlock& start, BasicBlock& dispatch) {
    b_.SetInsertPoint(&start);
    LaneLoop loop = openLoop(lanes_, true, "thread.mixed");
    Value* index[3];
    walkBlock(loop, start, index);
    Value* turn =
        b_.CreateLoad(b_.getInt32Ty(), b_.CreateInBoundsGEP(b_.getInt32Ty(), turn_, loop.thread));
    BasicBlock* live = block("live");
    b_.CreateCondBr(b_.CreateIsNotNull(turn), live, loop.latch);
    b_.SetInsertPoint(live);
    takeStep(loop, index, b_.CreateSub(turn, b_.getInt32(1)), true);
    b_.CreateBr(loop.latch);
    closeLoop(loop);
    mark(*loop.latch->getTerminator(), false);
    askDevice(load(any_), load(all_), dispatch);
  }

  /// The indices of lanes that may lie in several rows of the block.
  void walkBlock(const LaneLoop& loop, BasicBlock& start, Value** index) {
    PHINode* phis[3];
    for (unsigned axis = 0; axis < 3; ++axis) {
      phis[axis] = PHINode::Create(b_.getInt32Ty(), 2, "tid", loop.lane->getIterator());
      phis[axis]->addIncoming(place_[axis], &start);
      index[axis] = phis[axis];
    }
    IRBuilder<> end(loop.latch);
    Value* carry = end.getInt32(1);
    for (unsigned axis = 0; axis < 3; ++axis) {
      Value* next = end.CreateAdd(phis[axis], carry);
      if (axis < 2) {
        Value* wraps = end.CreateICmpEQ(next, size(axis));
        carry = end.CreateZExt(wraps, end.getInt32Ty());
        next = end.CreateSelect(wraps, end.getInt32(0), next);
      }
      phis[axis]->addIncoming(next, loop.latch);
    }
  }

  /// What takes the time of the compiler and gains little: copies of these loops' bodies, and
  /// trying to vectorise the one over the whole kernel.
  void mark(Instruction& branch, bool isPhase) {
    const auto option = [&](const char* name, ArrayRef<Metadata*> values) {
      SmallVector<Metadata*> parts{MDString::get(context_, name)};
      append_range(parts, values);
      return MDNode::get(context_, parts);
    };
    SmallVector<Metadata*> options{nullptr, option("llvm.loop.unroll.disable", {})};
    if (!isPhase)
      options.push_back(
          option("llvm.loop.vectorize.enable", {ConstantAsMetadata::get(b_.getFalse())}));
    MDNode* id = MDNode::getDistinct(context_, options);
    id->replaceOperandWith(0, id);
    branch.setMetadata(LLVMContext::MD_loop, id);
  }

  void askDevice(Value* any, Value* all, BasicBlock& dispatch) {
    b_.CreateStore(service(offsetof(mneme_cpu_services, lanes_meet), {warp_, any, all}), state_);
    b_.CreateBr(&dispatch);
  }

  /// Stores a number for each lane of a whole warp.
  void storeLanes(Value* number, Value* field) {
    Value* first = b_.CreateZExt(first_, b_.getInt64Ty());
    b_.CreateAlignedStore(b_.CreateVectorSplat(warpSize_, number),
                          b_.CreateInBoundsGEP(b_.getInt32Ty(), field, first), Align(4));
  }

  /// `collects`: where the lanes come to is or'ed and and'ed.
  LaneLoop openLoop(Value* count, bool collects, const char* name) {
    if (collects) {
      b_.CreateStore(b_.getInt32(0), any_);
      b_.CreateStore(b_.getInt32(~0u), all_);
    }
    BasicBlock* before = b_.GetInsertBlock();
    BasicBlock* header = block(name);
    b_.CreateBr(header);
    b_.SetInsertPoint(header);
    LaneLoop loop;
    loop.count = count;
    loop.latch = block("thread.end");
    loop.lane = b_.CreatePHI(b_.getInt32Ty(), 2, "lane");
    loop.lane->addIncoming(b_.getInt32(0), before);
    loop.number = b_.CreateAdd(first_, loop.lane, "", true, true);
    loop.thread = b_.CreateZExt(loop.number, b_.getInt64Ty(), "thread");
    return loop;
  }

  void closeLoop(LaneLoop& loop) {
    b_.SetInsertPoint(loop.latch);
    Value* next = b_.CreateAdd(loop.lane, b_.getInt32(1), "", true, true);
    loop.lane->addIncoming(next, loop.latch);
    BasicBlock* after = block("lanes.end");
    b_.CreateCondBr(b_.CreateICmpULT(next, loop.count), loop.lane->getParent(), after);
    b_.SetInsertPoint(after);
  }

  void takeStep(const LaneLoop& loop, Value** index, Value* own, bool collects) {
    if (storesThreadIndex_)
      for (unsigned axis = 0; axis < 3; ++axis)
        b_.CreateStore(index[axis], b_.CreateConstInBoundsGEP1_64(
                                        b_.getInt8Ty(), contextArgument(),
                                        offsetof(mneme_cpu_context, threadId) + 4 * axis));
    SmallVector<Value*> operands;
    for (unsigned argument = 0; argument < step_.firstExtra; ++argument)
      operands.push_back(function_->getArg(argument));
    for (unsigned axis = 0; axis < 3; ++axis)
      operands[arguments_.thread(axis)] = index[axis];
    operands.append({own, load(oldCount_), load(oldArrivals_), scratch_, loop.thread, threads_});
    CallInst* call = b_.CreateCall(step_.function, operands);
    calls_.push_back(call);
    if (collects) {
      Value* next = b_.CreateExtractValue(call, 0);
      b_.CreateStore(next, b_.CreateInBoundsGEP(b_.getInt32Ty(), next_, loop.thread));
      b_.CreateStore(b_.CreateOr(load(any_), next), any_);
      b_.CreateStore(b_.CreateAnd(load(all_), next), all_);
    }
    if (!step_.reduces)
      return;
    b_.CreateStore(b_.CreateAdd(load(count_), b_.CreateExtractValue(call, 1)), count_);
    b_.CreateStore(b_.CreateAdd(load(arrivals_), b_.CreateExtractValue(call, 2)), arrivals_);
  }

  /// What threads brought to the block's barrier counts when all have come.
  void endRound(BasicBlock& round, BasicBlock& exit) {
    Value* way = service(offsetof(mneme_cpu_services, block_meets), {});
    Value* passes = b_.CreateICmpEQ(way, b_.getInt32(1));
    for (auto [now, before] : {std::pair{count_, oldCount_}, std::pair{arrivals_, oldArrivals_}}) {
      Value* sum = load(now);
      b_.CreateStore(b_.CreateSelect(passes, sum, load(before)), before);
      b_.CreateStore(b_.CreateSelect(passes, b_.getInt32(0), sum), now);
    }
    b_.CreateCondBr(b_.CreateIsNull(way), &exit, &round);
  }

  const PhaseStep& step_;
  const PhaseArguments& arguments_;
  bool storesThreadIndex_;
  unsigned warpSize_;
  LLVMContext& context_;
  IRBuilder<> b_;
  Function* function_ = nullptr;
  Value* scratch_ = nullptr;
  Value* threadCount_ = nullptr;
  Value* threads_ = nullptr;
  Value* warps_ = nullptr;
  Value* next_ = nullptr;
  Value* turn_ = nullptr;
  PHINode* warp_ = nullptr;
  Value* first_ = nullptr; ///< thread of the warp
  Value* lanes_ = nullptr; ///< how many it has
  Value* place_[3] = {};   ///< of its first thread in the block
  AllocaInst* state_ = nullptr;
  AllocaInst* any_ = nullptr;
  AllocaInst* all_ = nullptr;
  AllocaInst* count_ = nullptr;
  AllocaInst* arrivals_ = nullptr;
  AllocaInst* oldCount_ = nullptr;
  AllocaInst* oldArrivals_ = nullptr;
  std::vector<BasicBlock*> phases_;      ///< by state
  std::vector<BasicBlock*> completions_; ///< by state: null where the device has to be asked
  std::vector<AllocaInst*> variables_;
  std::vector<CallInst*> calls_;
};

} // namespace

Function* makeWarpRounds(const PhaseStep& step, const PhaseArguments& arguments,
                         bool storesThreadIndex, unsigned warpSize) {
  return WarpRoundsBuilder(step, arguments, storesThreadIndex, warpSize).build();
}

} // namespace mneme::compile::cpu
