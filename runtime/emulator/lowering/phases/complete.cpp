#include "runtime/emulator/lowering/phases/complete.h"

#include <llvm/IR/Module.h>

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

constexpr unsigned kLanes = MNEME_CPU_WARP_SIZE;

bool isGiven(const mneme_cpu_meeting& meeting, unsigned field) {
  return (meeting.given >> field & 1) != 0;
}

/// Where a lane's value comes from, and whether that is in its part of the warp (PTX shfl.sync).
struct Source {
  uint32_t lane;
  bool isInRange;
};

Source sourceOf(uint32_t mode, uint32_t lane, uint32_t operand, uint32_t clampAndSegment) {
  const uint32_t offset = operand & 31, clamp = clampAndSegment & 31;
  const uint32_t segment = clampAndSegment >> 8 & 31;
  const auto most = int32_t((lane & segment) | (clamp & ~segment));
  int32_t source = 0;
  switch (mode) {
  case MNEME_SHFL_UP:
    source = int32_t(lane) - int32_t(offset);
    break;
  case MNEME_SHFL_DOWN:
    source = int32_t(lane + offset);
    break;
  case MNEME_SHFL_BFLY:
    source = int32_t(lane ^ offset);
    break;
  default:
    source = int32_t((lane & segment) | (offset & ~segment));
    break;
  }
  const bool isInRange = mode == MNEME_SHFL_UP ? source >= most : source <= most;
  return {isInRange ? uint32_t(source) : lane, isInRange};
}

class Completion {
public:
  Completion(IRBuilder<>& b, const mneme_cpu_meeting& meeting, bool hasFlag,
             function_ref<Value*(unsigned)> field)
      : b_(b), meeting_(meeting), hasFlag_(hasFlag), field_(field),
        lanes_(FixedVectorType::get(b.getInt32Ty(), kLanes)) {}

  void emit() {
    switch (meeting_.kind) {
    case MNEME_MEET_SHUFFLE:
      if (isGiven(meeting_, MNEME_LANE_OPERAND) && isGiven(meeting_, MNEME_LANE_CLAMP))
        shuffleAsGiven();
      else
        shuffleAsLanesTell();
      break;
    case MNEME_MEET_VOTE:
      storeAll(vote());
      break;
    case MNEME_MEET_REDUCE:
      storeAll(reduce());
      break;
    default:
      break;
    }
  }

private:
  Value* operands(unsigned field) {
    if (isGiven(meeting_, field))
      return b_.CreateVectorSplat(kLanes, b_.getInt32(meeting_.fixed[field]));
    return b_.CreateAlignedLoad(lanes_, field_(field), Align(4));
  }
  void store(Value* lanes, unsigned field) {
    b_.CreateAlignedStore(lanes, field_(field), Align(4));
  }
  void storeAll(Value* result) { store(b_.CreateVectorSplat(kLanes, result), MNEME_LANE_RESULT); }

  void shuffleAsGiven() {
    SmallVector<int> sources;
    SmallVector<Constant*> flags;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      const Source source = sourceOf(meeting_.mode, lane, meeting_.fixed[MNEME_LANE_OPERAND],
                                     meeting_.fixed[MNEME_LANE_CLAMP]);
      sources.push_back(int(source.lane));
      flags.push_back(b_.getInt32(source.isInRange));
    }
    store(b_.CreateShuffleVector(operands(MNEME_LANE_VALUE), sources), MNEME_LANE_RESULT);
    if (hasFlag_)
      store(ConstantVector::get(flags), MNEME_LANE_FLAG);
  }

  /// One lane after the other: `sourceOf`, as code.
  void shuffleAsLanesTell() {
    Value* given[] = {field_(MNEME_LANE_OPERAND), field_(MNEME_LANE_CLAMP),
                      field_(MNEME_LANE_VALUE), field_(MNEME_LANE_RESULT), field_(MNEME_LANE_FLAG)};
    BasicBlock* before = b_.GetInsertBlock();
    Function* function = before->getParent();
    BasicBlock* header = BasicBlock::Create(b_.getContext(), "thread.x", function);
    BasicBlock* after = BasicBlock::Create(b_.getContext(), "shuffled", function);
    b_.CreateBr(header);
    b_.SetInsertPoint(header);
    PHINode* lane = b_.CreatePHI(b_.getInt32Ty(), 2, "lane");
    lane->addIncoming(b_.getInt32(0), before);
    const auto element = [&](Value* base, Value* index) {
      return b_.CreateInBoundsGEP(b_.getInt32Ty(), base, index);
    };
    const auto operand = [&](unsigned field, Value* base) -> Value* {
      if (isGiven(meeting_, field))
        return b_.getInt32(meeting_.fixed[field]);
      return b_.CreateLoad(b_.getInt32Ty(), element(base, lane));
    };
    Value* inRange = nullptr;
    Value* source = sourceCode(lane, operand(MNEME_LANE_OPERAND, given[0]),
                               operand(MNEME_LANE_CLAMP, given[1]), inRange);
    Value* value = isGiven(meeting_, MNEME_LANE_VALUE)
                       ? static_cast<Value*>(b_.getInt32(meeting_.fixed[MNEME_LANE_VALUE]))
                       : b_.CreateLoad(b_.getInt32Ty(), element(given[2], source));
    b_.CreateStore(value, element(given[3], lane));
    if (hasFlag_)
      b_.CreateStore(b_.CreateZExt(inRange, b_.getInt32Ty()), element(given[4], lane));
    Value* next = b_.CreateAdd(lane, b_.getInt32(1), "", true, true);
    lane->addIncoming(next, header);
    b_.CreateCondBr(b_.CreateICmpULT(next, b_.getInt32(kLanes)), header, after);
    b_.SetInsertPoint(after);
  }

  Value* sourceCode(Value* lane, Value* operand, Value* clampAndSegment, Value*& inRange) {
    Value* bits = b_.getInt32(31);
    Value* offset = b_.CreateAnd(operand, bits);
    Value* clamp = b_.CreateAnd(clampAndSegment, bits);
    Value* segment = b_.CreateAnd(b_.CreateLShr(clampAndSegment, 8), bits);
    Value* others = b_.CreateNot(segment);
    Value* own = b_.CreateAnd(lane, segment);
    Value* most = b_.CreateOr(own, b_.CreateAnd(clamp, others));
    Value* source = nullptr;
    switch (meeting_.mode) {
    case MNEME_SHFL_UP:
      source = b_.CreateSub(lane, offset);
      break;
    case MNEME_SHFL_DOWN:
      source = b_.CreateAdd(lane, offset);
      break;
    case MNEME_SHFL_BFLY:
      source = b_.CreateXor(lane, offset);
      break;
    default:
      source = b_.CreateOr(own, b_.CreateAnd(offset, others));
      break;
    }
    inRange = meeting_.mode == MNEME_SHFL_UP ? b_.CreateICmpSGE(source, most)
                                             : b_.CreateICmpSLE(source, most);
    return b_.CreateSelect(inRange, source, lane);
  }

  Value* vote() {
    Value* holds = b_.CreateIsNotNull(operands(MNEME_LANE_VALUE));
    Value* ballot = b_.CreateBitCast(holds, b_.getInt32Ty());
    Value* isNone = b_.CreateIsNull(ballot);
    Value* isAll = b_.CreateICmpEQ(ballot, b_.getInt32(~0u));
    switch (meeting_.mode) {
    case MNEME_VOTE_ALL:
      return b_.CreateZExt(isAll, b_.getInt32Ty());
    case MNEME_VOTE_ANY:
      return b_.CreateZExt(b_.CreateNot(isNone), b_.getInt32Ty());
    case MNEME_VOTE_UNI:
      return b_.CreateZExt(b_.CreateOr(isNone, isAll), b_.getInt32Ty());
    default:
      return ballot;
    }
  }

  Value* reduce() {
    Value* values = operands(MNEME_LANE_VALUE);
    switch (meeting_.mode) {
    case MNEME_REDUX_ADD:
      return b_.CreateAddReduce(values);
    case MNEME_REDUX_UMIN:
      return b_.CreateIntMinReduce(values, false);
    case MNEME_REDUX_UMAX:
      return b_.CreateIntMaxReduce(values, false);
    case MNEME_REDUX_MIN:
      return b_.CreateIntMinReduce(values, true);
    case MNEME_REDUX_MAX:
      return b_.CreateIntMaxReduce(values, true);
    case MNEME_REDUX_AND:
      return b_.CreateAndReduce(values);
    case MNEME_REDUX_OR:
      return b_.CreateOrReduce(values);
    default:
      return b_.CreateXorReduce(values);
    }
  }

  IRBuilder<>& b_;
  const mneme_cpu_meeting& meeting_;
  bool hasFlag_;
  function_ref<Value*(unsigned)> field_;
  FixedVectorType* lanes_;
};

} // namespace

bool isCompleteWhenTogether(const mneme_cpu_meeting& meeting, unsigned warpSize) {
  switch (meeting.kind) {
  case MNEME_MEET_SYNC:
  case MNEME_MEET_SHUFFLE:
  case MNEME_MEET_VOTE:
  case MNEME_MEET_REDUCE:
    return warpSize == kLanes && isGiven(meeting, MNEME_LANE_MASK) &&
           meeting.fixed[MNEME_LANE_MASK] == ~0u;
  default:
    return false;
  }
}

void emitCompletion(IRBuilder<>& b, const mneme_cpu_meeting& meeting, bool hasFlag,
                    function_ref<Value*(unsigned)> field) {
  Completion(b, meeting, hasFlag, field).emit();
}

} // namespace mneme::compile::cpu
