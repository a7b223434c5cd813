// Video instructions of PTX on the two halves or four bytes of a word.
#include <llvm/ADT/StringSwitch.h>

#include "runtime/emulator/lowering/inline_ptx/ptx.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

enum class LaneOperation { Add, Subtract, Average, Difference, Minimum, Maximum, Compare };

Value* lanesOf(Emit& e, Value* word, unsigned lanes, bool isSigned) {
  Type* narrow = FixedVectorType::get(e.i(32 / lanes), lanes);
  Type* wide = FixedVectorType::get(e.i(32), lanes);
  Value* vector = e.CreateBitCast(word, narrow);
  return isSigned ? e.CreateSExt(vector, wide) : e.CreateZExt(vector, wide);
}

Value* compute(Emit& e, LaneOperation operation, Value* a, Value* b, CmpInst::Predicate predicate) {
  Value* one = ConstantInt::get(a->getType(), 1);
  switch (operation) {
  case LaneOperation::Add:
    return e.CreateAdd(a, b);
  case LaneOperation::Subtract:
    return e.CreateSub(a, b);
  case LaneOperation::Average:
    return e.CreateAShr(e.CreateAdd(e.CreateAdd(a, b), one), one);
  case LaneOperation::Difference:
    return e.CreateBinaryIntrinsic(Intrinsic::abs, e.CreateSub(a, b), e.getFalse());
  case LaneOperation::Minimum:
    return e.CreateBinaryIntrinsic(Intrinsic::smin, a, b);
  case LaneOperation::Maximum:
    return e.CreateBinaryIntrinsic(Intrinsic::smax, a, b);
  case LaneOperation::Compare:
    break;
  }
  return e.CreateZExt(e.CreateICmp(predicate, a, b), a->getType());
}

Value* clampLanes(Emit& e, Value* value, unsigned laneBits, bool isSigned) {
  Type* type = value->getType();
  int64_t high = isSigned ? (int64_t(1) << (laneBits - 1)) - 1 : (int64_t(1) << laneBits) - 1;
  int64_t low = isSigned ? -high - 1 : 0;
  value = e.CreateBinaryIntrinsic(Intrinsic::smin, value, ConstantInt::getSigned(type, high));
  return e.CreateBinaryIntrinsic(Intrinsic::smax, value, ConstantInt::getSigned(type, low));
}

CmpInst::Predicate takePredicate(PtxInstruction& i) {
  constexpr std::pair<const char*, CmpInst::Predicate> kPredicates[] = {
      {"eq", CmpInst::ICMP_EQ},  {"ne", CmpInst::ICMP_NE},  {"lt", CmpInst::ICMP_SLT},
      {"le", CmpInst::ICMP_SLE}, {"gt", CmpInst::ICMP_SGT}, {"ge", CmpInst::ICMP_SGE}};
  for (auto [name, predicate] : kPredicates)
    if (i.take(name))
      return predicate;
  return CmpInst::BAD_ICMP_PREDICATE;
}

/// <op>.<d type>.<a type>.<b type>{.sat}{.add} d, a, b, c. Lanes are extended by their own type, so
/// signed operations on the extended values are exact.
template <LaneOperation Operation, unsigned Lanes>
void laneInstruction(PtxContext& c, PtxInstruction& i) {
  constexpr bool isCompare = Operation == LaneOperation::Compare;
  CmpInst::Predicate predicate = isCompare ? takePredicate(i) : CmpInst::BAD_ICMP_PREDICATE;
  std::optional<PtxType> result = isCompare ? PtxType{'u', 32, 1} : i.takeType();
  std::optional<PtxType> left = i.takeType();
  std::optional<PtxType> right = i.takeType();
  if (!result || !left || !right || i.operands.size() != 4 ||
      (isCompare && predicate == CmpInst::BAD_ICMP_PREDICATE))
    c.unsupported(i);
  Emit& e = c.e;
  Value* a = lanesOf(e, c.read(i.operands[1], e.i(32)), Lanes, left->isSigned());
  Value* b = lanesOf(e, c.read(i.operands[2], e.i(32)), Lanes, right->isSigned());
  Value* lanes = compute(e, Operation, a, b, predicate);
  if (i.take("sat"))
    lanes = clampLanes(e, lanes, 32 / Lanes, result->isSigned());
  if (i.take("add")) {
    Value* sum = e.CreateAddReduce(lanes);
    return c.write(i.operands[0], e.CreateAdd(sum, c.read(i.operands[3], e.i(32))));
  }
  Value* narrow = e.CreateTrunc(lanes, FixedVectorType::get(e.i(32 / Lanes), Lanes));
  c.write(i.operands[0], e.CreateBitCast(narrow, e.i(32)));
}

constexpr PtxRule kRules[] = {
    {"vadd2", laneInstruction<LaneOperation::Add, 2>},
    {"vadd4", laneInstruction<LaneOperation::Add, 4>},
    {"vsub2", laneInstruction<LaneOperation::Subtract, 2>},
    {"vsub4", laneInstruction<LaneOperation::Subtract, 4>},
    {"vavrg2", laneInstruction<LaneOperation::Average, 2>},
    {"vavrg4", laneInstruction<LaneOperation::Average, 4>},
    {"vabsdiff2", laneInstruction<LaneOperation::Difference, 2>},
    {"vabsdiff4", laneInstruction<LaneOperation::Difference, 4>},
    {"vmin2", laneInstruction<LaneOperation::Minimum, 2>},
    {"vmin4", laneInstruction<LaneOperation::Minimum, 4>},
    {"vmax2", laneInstruction<LaneOperation::Maximum, 2>},
    {"vmax4", laneInstruction<LaneOperation::Maximum, 4>},
    {"vset2", laneInstruction<LaneOperation::Compare, 2>},
    {"vset4", laneInstruction<LaneOperation::Compare, 4>},
};

} // namespace

std::span<const PtxRule> ptxSimdRules() { return kRules; }

} // namespace mneme::compile::cpu
