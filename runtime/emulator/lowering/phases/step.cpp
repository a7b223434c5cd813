// Cuts a kernel at its barriers: one thread from one to the next (phases.h).
#include <cstddef>

#include <llvm/ADT/DenseSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "runtime/core/abi/cpu_image.h"
#include "runtime/emulator/lowering/emit.h"
#include "runtime/emulator/lowering/phases/meetings.h"
#include "runtime/emulator/lowering/phases/values.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

// What the memory of a block is aligned to.
constexpr uint64_t kMostAlign = 256;

enum class Carrier { Recompute, Uniform, Slot };

struct Carried {
  Carrier carrier = Carrier::Slot;
  unsigned uniform = 0; ///< number among the uniform values
  uint64_t offset = 0;  ///< of the slots
  AllocaInst* variable = nullptr;
};

struct Local {
  AllocaInst* local = nullptr;
  uint64_t offset = 0;
  uint64_t strideBytes = 0;
};

enum Extra { State, Count, Arrivals, Scratch, Thread, Threads, FirstUniform };

class StepBuilder {
public:
  StepBuilder(Function& body, const PhaseArguments& arguments, bool isFree)
      : body_(body), arguments_(arguments), layout_(body.getDataLayout()),
        recomputation_(body.getArg(arguments.context)) {
    step_.isFree = isFree;
  }

  PhaseStep build() {
    removeUnreachableBlocks(body_);
    makeWarpMeetings(body_);
    copyWrittenParameters();
    splitAtBarriers();
    control_ = analyzeControl(body_, arguments_, barriers_);
    across_ = valuesAcross(body_, barriers_);
    chooseCarriers();
    layOut();
    makeFunction();
    makeDispatch();
    moveLocals();
    makeVariables();
    for (const PhaseBarrier& barrier : barriers_)
      savePoints_.push_back(savePoint(barrier));
    for (size_t index = 0; index < barriers_.size(); ++index) {
      finishArrival(index);
      finishResumption(index);
    }
    replaceReturns();
    promote();
    describe();
    return std::move(step_);
  }

private:
  /// By-value structs that the kernel changes are each thread's own.
  void copyWrittenParameters() {
    for (size_t index = 0; index < arguments_.writtenStructs.size(); ++index) {
      Type* type = arguments_.writtenStructs[index];
      if (!type)
        continue;
      Argument* original = body_.getArg(unsigned(index));
      IRBuilder<> builder(&*body_.getEntryBlock().getFirstInsertionPt());
      AllocaInst* copy = builder.CreateAlloca(type);
      copy->setAlignment(std::max(copy->getAlign(), Align(16)));
      original->replaceAllUsesWith(copy);
      builder.CreateMemCpy(copy, copy->getAlign(), original, Align(16),
                           layout_.getTypeAllocSize(type).getFixedValue());
    }
  }

  void splitAtBarriers() {
    std::string plain = kServicePrefix + std::to_string(offsetof(mneme_cpu_services, barrier));
    std::string reducing =
        kServicePrefix + std::to_string(offsetof(mneme_cpu_services, barrier_reduce));
    for (Instruction& instruction : instructions(body_))
      if (auto* call = dyn_cast<CallInst>(&instruction))
        if (Function* callee = call->getCalledFunction())
          if (const bool isOfWarp = isWarpMeeting(*call);
              isOfWarp || callee->getName() == plain || callee->getName() == reducing) {
            PhaseBarrier barrier;
            barrier.call = call;
            barrier.isOfWarp = isOfWarp;
            if (isOfWarp)
              barrier.meeting = describeMeeting(*call), barrier.hasFlag = hasFlag(*call);
            hasMeetings_ |= isOfWarp;
            barrier.reduces = callee->getName() == reducing;
            if (barrier.reduces)
              barrier.operation =
                  unsigned(cast<ConstantInt>(call->getArgOperand(2))->getZExtValue());
            barriers_.push_back(barrier);
          }
    for (PhaseBarrier& barrier : barriers_) {
      Instruction* next = barrier.call->getNextNode();
      if (barrier.reduces) { // the result exists behind the barrier only
        auto* result = new FreezeInst(barrier.call, "", next->getIterator());
        barrier.call->replaceUsesWithIf(result, [&](Use& use) { return use.getUser() != result; });
        next = result;
      }
      barrier.after = barrier.call->getParent()->splitBasicBlock(next, "resumed");
    }
  }

  void chooseCarriers() {
    for (const auto& values : across_)
      for (Instruction* value : values) {
        if (isa<AllocaInst>(value) || carried_.contains(value))
          continue;
        Carried choice;
        if (value->hasMetadata(kRoundMetadata))
          choice.carrier = Carrier::Uniform;
        else if (recomputation_.isCheap(value))
          choice.carrier = Carrier::Recompute;
        else if (!step_.isFree && !hasMeetings_ && control_.isUniform &&
                 !control_.divergent.contains(value))
          choice.carrier = Carrier::Uniform;
        if (choice.carrier == Carrier::Uniform) {
          choice.uniform = unsigned(step_.uniforms.size());
          step_.uniforms.push_back(value->getType());
        }
        carried_[value] = choice;
      }
  }

  Type* slotType(Type* type) {
    return type->isIntegerTy(1) ? Type::getInt8Ty(type->getContext()) : type;
  }

  /// Arrays with the largest alignment come first, so that every array is aligned.
  void layOut() {
    struct Item {
      uint64_t align, size;
      uint64_t* offset;
    };
    std::vector<Item> items;
    SmallVector<AllocaInst*> locals = localsAcross(body_, across_);
    locals_.resize(locals.size());
    for (size_t index = 0; index < locals.size(); ++index) {
      Local& local = locals_[index];
      local.local = locals[index];
      uint64_t size = local.local->getAllocationSize(layout_)->getFixedValue();
      uint64_t align = local.local->getAlign().value();
      local.strideBytes = alignTo(std::max<uint64_t>(size, 1), align);
      items.push_back({align, local.strideBytes, &local.offset});
    }
    for (auto& [value, choice] : carried_)
      if (choice.carrier == Carrier::Slot) {
        Type* type = slotType(value->getType());
        items.push_back({layout_.getABITypeAlign(type).value(),
                         layout_.getTypeAllocSize(type).getFixedValue(), &choice.offset});
      }
    if (hasMeetings_)
      items.push_back({4, 4 * MNEME_LANE_FIELDS, &step_.laneOffset});
    else
      items.push_back({4, 4, &step_.stateOffset});
    ScratchLayout scratch;
    for (uint64_t align = kMostAlign; align > 0; align /= 2)
      for (Item& item : items)
        if (item.align == align)
          *item.offset = scratch.add(item.size);
    step_.scratchBytes = scratch.bytesPerThread();
  }

  void makeFunction() {
    LLVMContext& context = body_.getContext();
    Type* i32 = Type::getInt32Ty(context);
    Type* i64 = Type::getInt64Ty(context);
    SmallVector<Type*> results{i32, i32, i32};
    append_range(results, step_.uniforms);
    SmallVector<Type*> types(body_.getFunctionType()->params());
    step_.firstExtra = unsigned(types.size());
    types.append({i32, i32, i32, PointerType::get(context, 0), i64, i64});
    append_range(types, step_.uniforms);
    result_ = StructType::get(context, results);
    function_ = Function::Create(FunctionType::get(result_, types, false),
                                 GlobalValue::InternalLinkage, "mneme.step", body_.getParent());
    function_->setDoesNotThrow();
    function_->splice(function_->begin(), &body_);
    for (Argument& argument : body_.args()) {
      Argument* made = function_->getArg(argument.getArgNo());
      made->takeName(&argument);
      for (auto kind : {Attribute::NoAlias, Attribute::ReadOnly})
        if (argument.hasAttribute(kind))
          made->addAttr(kind);
      argument.replaceAllUsesWith(made);
    }
  }

  Value* extra(unsigned which) { return function_->getArg(step_.firstExtra + which); }

  void makeDispatch() {
    LLVMContext& context = function_->getContext();
    first_ = &function_->getEntryBlock();
    dispatch_ = BasicBlock::Create(context, "dispatch", function_, first_);
    SwitchInst* choice =
        SwitchInst::Create(extra(State), first_, unsigned(barriers_.size()), dispatch_);
    for (size_t index = 0; index < barriers_.size(); ++index) {
      BasicBlock* resume = BasicBlock::Create(context, "resume", function_, barriers_[index].after);
      choice->addCase(ConstantInt::get(Type::getInt32Ty(context), index + 1), resume);
      resumptions_.push_back(resume);
      for (Instruction* value : across_[index])
        if (auto found = carried_.find(value);
            found != carried_.end() && found->second.carrier == Carrier::Recompute)
          recomputed_[{value, resume}] = recomputation_.emit(value, resume);
    }
  }

  /// The element of the running thread in an array of the scratch memory.
  Value* element(IRBuilder<>& builder, uint64_t offset, uint64_t strideBytes) {
    Value* start = builder.CreateMul(extra(Threads), builder.getInt64(offset), "", true, true);
    Value* own = builder.CreateMul(extra(Thread), builder.getInt64(strideBytes), "", true, true);
    Value* base = builder.CreateInBoundsPtrAdd(extra(Scratch), start);
    return builder.CreateInBoundsPtrAdd(base, own, "slot");
  }

  void moveLocals() {
    Instruction* position = dispatch_->getTerminator();
    for (Instruction& instruction : make_early_inc_range(instructions(*function_)))
      if (isa<AllocaInst>(instruction))
        instruction.moveBefore(*dispatch_, dispatch_->begin());
    IRBuilder<> builder(position);
    for (Local& local : locals_) {
      for (User* user : make_early_inc_range(local.local->users()))
        if (auto* marker = dyn_cast<IntrinsicInst>(user); marker && marker->isLifetimeStartOrEnd())
          marker->eraseFromParent();
      Value* place = element(builder, local.offset, local.strideBytes);
      place->takeName(local.local);
      local.local->replaceAllUsesWith(place);
      local.local->eraseFromParent();
    }
  }

  void makeVariables() {
    for (auto& [value, choice] : carried_) {
      choice.variable = DemoteRegToStack(*value, false, dispatch_->begin());
      if (choice.variable)
        variables_.push_back(choice.variable);
    }
  }

  bool startsWithBarrier(const BasicBlock& block) const {
    return block.getSinglePredecessor() && any_of(barriers_, [&](const PhaseBarrier& barrier) {
             return barrier.call == &block.front();
           });
  }

  /// Where a branch leads to barriers only, values are saved before it: once, not once for each.
  Instruction* savePoint(const PhaseBarrier& barrier) const {
    BasicBlock* block = barrier.call->getParent();
    BasicBlock* before = block->getSinglePredecessor();
    bool isShared =
        before && succ_size(before) > 1 &&
        all_of(successors(before), [&](BasicBlock* next) { return startsWithBarrier(*next); });
    return (isShared ? before : block)->getTerminator();
  }

  void save(IRBuilder<>& builder, Instruction* value, const Carried& choice) {
    Value* current = builder.CreateLoad(value->getType(), choice.variable);
    Type* type = slotType(value->getType());
    if (type != value->getType())
      current = builder.CreateZExt(current, type);
    builder.CreateStore(
        current, element(builder, choice.offset, layout_.getTypeAllocSize(type).getFixedValue()));
  }

  /// Ends the step at a barrier.
  void finishArrival(size_t index) {
    PhaseBarrier& barrier = barriers_[index];
    Instruction* jump = barrier.call->getParent()->getTerminator();
    IRBuilder<> builder(jump);
    Value* result = PoisonValue::get(result_);
    result = builder.CreateInsertValue(result, builder.getInt32(index + 1), 0);
    Value* predicate = builder.getInt32(0);
    if (barrier.reduces)
      predicate = builder.CreateZExt(builder.CreateIsNotNull(barrier.call->getArgOperand(3)),
                                     builder.getInt32Ty());
    result = builder.CreateInsertValue(result, predicate, 1);
    result = builder.CreateInsertValue(result, builder.getInt32(barrier.reduces), 2);
    IRBuilder<> saver(savePoints_[index]);
    for (Instruction* value : across_[index]) {
      auto found = carried_.find(value);
      if (found == carried_.end() || !found->second.variable)
        continue;
      const Carried& choice = found->second;
      if (choice.carrier == Carrier::Uniform)
        result = builder.CreateInsertValue(
            result, builder.CreateLoad(value->getType(), choice.variable), 3 + choice.uniform);
      else if (choice.carrier == Carrier::Slot && saved_.insert({savePoints_[index], value}).second)
        save(saver, value, choice);
    }
    if (barrier.isOfWarp)
      for (unsigned field = MNEME_LANE_MASK; field <= MNEME_LANE_CLAMP; ++field)
        if (Value* operand = broughtOperand(*barrier.call, field))
          builder.CreateStore(operand, laneField(builder, field));
    builder.CreateRet(result);
    jump->eraseFromParent();
  }

  Value* laneField(IRBuilder<>& builder, unsigned field) {
    return element(builder, step_.laneOffset + 4 * field, 4);
  }

  /// What the device has left for the lane.
  Value* meetingResult(IRBuilder<>& builder) {
    Type* i32 = builder.getInt32Ty();
    Value* result = PoisonValue::get(StructType::get(i32, i32));
    result = builder.CreateInsertValue(
        result, builder.CreateLoad(i32, laneField(builder, MNEME_LANE_RESULT)), 0);
    return builder.CreateInsertValue(
        result, builder.CreateLoad(i32, laneField(builder, MNEME_LANE_FLAG)), 1);
  }

  /// Brings the values that outlive a barrier to its other side.
  void finishResumption(size_t index) {
    PhaseBarrier& barrier = barriers_[index];
    IRBuilder<> builder(resumptions_[index]);
    for (Instruction* value : across_[index]) {
      auto found = carried_.find(value);
      if (found == carried_.end() || !found->second.variable)
        continue;
      const Carried& choice = found->second;
      Value* current = nullptr;
      if (choice.carrier == Carrier::Recompute) {
        current = recomputed_[{value, resumptions_[index]}];
      } else if (choice.carrier == Carrier::Uniform) {
        current = extra(FirstUniform + choice.uniform);
      } else {
        Type* type = slotType(value->getType());
        Value* place =
            element(builder, choice.offset, layout_.getTypeAllocSize(type).getFixedValue());
        current = builder.CreateLoad(type, place);
        if (type != value->getType())
          current = builder.CreateTrunc(current, value->getType());
      }
      builder.CreateStore(current, choice.variable);
    }
    if (barrier.reduces)
      barrier.call->replaceAllUsesWith(reduction(builder, barrier.operation));
    else if (barrier.isOfWarp)
      barrier.call->replaceAllUsesWith(meetingResult(builder));
    barrier.call->eraseFromParent();
    builder.CreateBr(barrier.after);
  }

  Value* reduction(IRBuilder<>& builder, unsigned operation) {
    if (operation == MNEME_REDUCE_POPC)
      return extra(Count);
    Value* holds = operation == MNEME_REDUCE_AND
                       ? builder.CreateICmpEQ(extra(Count), extra(Arrivals))
                       : builder.CreateIsNotNull(extra(Count));
    return builder.CreateZExt(holds, builder.getInt32Ty());
  }

  void replaceReturns() {
    Constant* zero = ConstantInt::get(Type::getInt32Ty(function_->getContext()), 0);
    SmallVector<Constant*> fields{zero, zero, zero};
    for (Type* type : step_.uniforms)
      fields.push_back(PoisonValue::get(type));
    Constant* ended = ConstantStruct::get(result_, fields);
    for (BasicBlock& block : *function_)
      if (auto* exit = dyn_cast<ReturnInst>(block.getTerminator()); exit && !exit->getReturnValue())
        ReplaceInstWithInst(exit, ReturnInst::Create(function_->getContext(), ended));
  }

  void promote() {
    removeUnreachableBlocks(*function_);
    DominatorTree dominators(*function_);
    PromoteMemToReg(variables_, dominators);
  }

  static PhaseStep::Phase describePhase(BasicBlock* start) {
    PhaseStep::Phase phase;
    bool isOnly = true;
    SmallSetVector<BasicBlock*, 16> reached;
    reached.insert(start);
    for (size_t index = 0; index < reached.size(); ++index) {
      BasicBlock* block = reached[index];
      phase.instructions += unsigned(block->size());
      for (BasicBlock* successor : successors(block))
        reached.insert(successor);
      auto* exit = dyn_cast<ReturnInst>(block->getTerminator());
      if (!exit)
        continue;
      auto* number = dyn_cast_or_null<ConstantInt>(FindInsertedValue(exit->getReturnValue(), {0u}));
      isOnly &= number && (!phase.onlyNext || *phase.onlyNext == number->getZExtValue());
      if (number)
        phase.onlyNext = unsigned(number->getZExtValue());
    }
    if (!isOnly)
      phase.onlyNext.reset();
    return phase;
  }

  void describePhases() {
    step_.phases.push_back(describePhase(first_));
    for (BasicBlock* resume : resumptions_)
      step_.phases.push_back(describePhase(resume));
  }

  void describe() {
    if (hasMeetings_)
      describePhases();
    step_.function = function_;
    step_.barrierCount = unsigned(barriers_.size());
    step_.isUniform = control_.isUniform;
    step_.hasEarlyExit = control_.hasEarlyExit;
    step_.uniformsAt.resize(barriers_.size() + 1);
    step_.homes.resize(step_.uniforms.size());
    for (size_t index = 0; index < barriers_.size(); ++index) {
      step_.reduces |= barriers_[index].reduces;
      if (hasMeetings_) {
        step_.meetings.push_back(barriers_[index].meeting);
        step_.hasFlag.push_back(barriers_[index].hasFlag);
      }
      for (Instruction* value : across_[index])
        if (auto found = carried_.find(value);
            found != carried_.end() && found->second.carrier == Carrier::Uniform) {
          step_.uniformsAt[index + 1].push_back(found->second.uniform);
          step_.homes[found->second.uniform] = unsigned(index) + 1;
        }
    }
    body_.eraseFromParent();
  }

  Function& body_;
  const PhaseArguments& arguments_;
  const DataLayout& layout_;
  Recomputation recomputation_;
  PhaseControl control_;
  bool hasMeetings_ = false; ///< of lanes
  PhaseStep step_;
  Function* function_ = nullptr;
  StructType* result_ = nullptr;
  BasicBlock* dispatch_ = nullptr;
  BasicBlock* first_ = nullptr; ///< where a thread starts
  std::vector<PhaseBarrier> barriers_;
  std::vector<SmallSetVector<Instruction*, 16>> across_;
  MapVector<Instruction*, Carried> carried_;
  std::vector<Local> locals_;
  std::vector<BasicBlock*> resumptions_;
  std::vector<AllocaInst*> variables_;
  DenseSet<std::pair<Instruction*, Instruction*>> saved_; ///< place and value
  std::vector<Instruction*> savePoints_;
  DenseMap<std::pair<Instruction*, BasicBlock*>, Value*> recomputed_;
};

} // namespace

PhaseStep makeStep(Function& body, const PhaseArguments& arguments, bool isFree) {
  return StepBuilder(body, arguments, isFree).build();
}

} // namespace mneme::compile::cpu
