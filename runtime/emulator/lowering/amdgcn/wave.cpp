// AMDGCN intrinsics by which threads talk to each other. They name no lanes: those of a wave that
// are at the same place of the program take part.
#include <cstddef>

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Metadata.h>

#include "runtime/core/abi/cpu_image.h"
#include "runtime/emulator/lowering/amdgcn/amdgcn.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

Value* lane(const AmdgcnCall& c) { return c.emit.specialRegister("laneid"); }

Value* blockBarrier(const AmdgcnCall& c) {
  Emit& e = c.emit;
  e.service(offsetof(mneme_cpu_services, barrier), e.getVoidTy(),
            {e.context(), e.getInt32(0), e.getInt32(0)});
  return nullptr;
}

Value* drop(const AmdgcnCall&) { return nullptr; }

Value* waveBarrier(const AmdgcnCall& c) {
  waveOperation(c.emit, MNEME_WAVE_SYNC, c.emit.getInt64(0), c.emit.getInt32(0));
  return nullptr;
}

/// Applies `operation` to `value` (of any type) in pieces of 32 bits.
template <typename Operation> Value* inPieces(Emit& e, Value* value, Operation operation) {
  Type* type = value->getType();
  const DataLayout& layout = e.module().getDataLayout();
  unsigned bits = unsigned(layout.getTypeSizeInBits(type));
  unsigned padded = std::max(32u, unsigned(alignTo(bits, 32)));
  Value* whole =
      type->isPointerTy() ? e.CreatePtrToInt(value, e.i(bits)) : e.CreateBitCast(value, e.i(bits));
  whole = e.CreateZExt(whole, e.i(padded));
  Value* result = nullptr;
  for (unsigned at = 0; at < padded; at += 32) {
    Value* piece = operation(at, e.CreateTrunc(e.CreateLShr(whole, at), e.i(32)));
    piece = e.CreateShl(e.CreateZExt(piece, e.i(padded)), at);
    result = result ? e.CreateOr(result, piece) : piece;
  }
  result = e.CreateTrunc(result, e.i(bits));
  return type->isPointerTy() ? e.CreateIntToPtr(result, type) : e.CreateBitCast(result, type);
}

Value* exchange(const AmdgcnCall& c, unsigned operation, Value* value, Value* operand) {
  Emit& e = c.emit;
  return inPieces(e, value, [&](unsigned, Value* piece) {
    Value* got = waveOperation(e, operation, e.CreateZExt(piece, e.i(64)), operand);
    return e.CreateTrunc(got, e.i(32));
  });
}

Value* firstLane(const AmdgcnCall& c) {
  return exchange(c, MNEME_WAVE_FIRST, c.operand(0), c.emit.getInt32(0));
}

Value* readLane(const AmdgcnCall& c) {
  Value* from = c.emit.CreateAnd(c.operand(1), c.traits.waveSize - 1);
  return exchange(c, MNEME_WAVE_READ, c.operand(0), from);
}

/// writelane(value, lane, old)
Value* writeLane(const AmdgcnCall& c) {
  Emit& e = c.emit;
  Value* isHere = e.CreateICmpEQ(lane(c), e.CreateAnd(c.operand(1), c.traits.waveSize - 1));
  return e.CreateSelect(isHere, c.operand(0), c.operand(2));
}

/// ds.bpermute(byte address, value) reads; ds.permute writes.
Value* permute(const AmdgcnCall& c) {
  Emit& e = c.emit;
  Value* index = e.CreateAnd(e.CreateLShr(c.operand(0), 2), c.traits.waveSize - 1);
  return exchange(c, c.variant, c.operand(1), index);
}

/// Where ds_swizzle and DPP find a lane's value, and whether that is a lane at all.
struct Source {
  Value* lane = nullptr;
  Value* isInside = nullptr;
};

Value* withQuad(Emit& e, Value* self, unsigned pattern) {
  Value* shift = e.CreateShl(e.CreateAnd(self, 3), 1);
  Value* inQuad = e.CreateAnd(e.CreateLShr(e.getInt32(pattern & 0xff), shift), 3);
  return e.CreateOr(e.CreateAnd(self, ~3u), inQuad);
}

Value* swizzle(const AmdgcnCall& c) {
  Emit& e = c.emit;
  unsigned pattern = unsigned(c.constant(1)) & 0xffff;
  Value* self = lane(c);
  Value* from = nullptr;
  if (pattern >= 0xe000)
    throwUnsupported("a ds_swizzle in its FFT mode", *c.call.getFunction());
  if (pattern >= 0xc000) { // rotates groups of lanes chosen by the mask
    unsigned mask = pattern & 31;
    unsigned amount = (pattern >> 5) & 31;
    Value* moved = (pattern >> 10) & 1 ? e.CreateSub(self, e.getInt32(amount))
                                       : e.CreateAdd(self, e.getInt32(amount));
    from = e.CreateOr(e.CreateAnd(self, mask), e.CreateAnd(moved, 31 & ~mask));
    from = e.CreateOr(from, e.CreateAnd(self, ~31u));
  } else if (pattern & 0x8000) {
    from = withQuad(e, self, pattern);
  } else {
    Value* low = e.CreateAnd(self, pattern & 31);
    low = e.CreateXor(e.CreateOr(low, (pattern >> 5) & 31), (pattern >> 10) & 31);
    from = e.CreateOr(e.CreateAnd(self, ~31u), low);
  }
  return exchange(c, MNEME_WAVE_READ, c.operand(0), from);
}

/// Row r is lanes 16r to 16r + 15.
Source dppSource(const AmdgcnCall& c, unsigned control) {
  Emit& e = c.emit;
  Value* self = lane(c);
  Value* row = e.CreateAnd(self, ~15u);
  Value* inRow = e.CreateAnd(self, 15);
  Value* yes = e.getTrue();
  unsigned amount = control & 15;
  auto rowShift = [&](Value* moved) {
    return Source{e.CreateOr(row, e.CreateAnd(moved, 15)), e.CreateICmpULT(moved, e.getInt32(16))};
  };
  if (control < 0x100)
    return {withQuad(e, self, control), yes};
  if (control > 0x100 && control < 0x110) // row_shl reads from higher lanes
    return rowShift(e.CreateAdd(inRow, e.getInt32(amount)));
  if (control > 0x110 && control < 0x120)
    return rowShift(e.CreateSub(inRow, e.getInt32(amount)));
  if (control > 0x120 && control < 0x130) // row_ror
    return {e.CreateOr(row, e.CreateAnd(e.CreateSub(inRow, e.getInt32(amount)), 15)), yes};
  Value* last = e.getInt32(c.traits.waveSize - 1);
  Value* above = e.CreateAdd(self, e.getInt32(1));
  Value* below = e.CreateSub(self, e.getInt32(1));
  switch (control) {
  case 0x130: // wave_shl
    return {e.CreateAnd(above, last), e.CreateICmpULT(self, last)};
  case 0x134: // wave_rol
    return {e.CreateAnd(above, last), yes};
  case 0x138: // wave_shr
    return {e.CreateAnd(below, last), e.CreateIsNotNull(self)};
  case 0x13c: // wave_ror
    return {e.CreateAnd(below, last), yes};
  case 0x140: // row_mirror
    return {e.CreateXor(self, 15), yes};
  case 0x141: // row_half_mirror
    return {e.CreateXor(self, 7), yes};
  case 0x142: // row_bcast15: the last lane of each row to the next row
    return {e.CreateSub(row, e.getInt32(1)), e.CreateICmpUGE(self, e.getInt32(16))};
  case 0x143: // row_bcast31: lane 31 to rows 2 and 3
    return {e.getInt32(31), e.CreateICmpUGE(self, e.getInt32(32))};
  default:
    break;
  }
  if (control >= 0x150 && control < 0x160) // row_share, row_newbcast
    return {e.CreateOr(row, amount), yes};
  if (control >= 0x160 && control < 0x170) // row_xmask
    return {e.CreateXor(self, amount), yes};
  throwUnsupported("a DPP operation with control " + Twine(control), *c.call.getFunction());
}

/// update.dpp(old, value, control, rowMask, bankMask, boundControl); mov.dpp has no `old`.
Value* moveAcross(const AmdgcnCall& c) {
  Emit& e = c.emit;
  unsigned first = c.variant; // 1: has an old value
  Value* value = c.operand(first);
  Value* old = first ? c.operand(0) : Constant::getNullValue(c.type());
  auto rowMask = unsigned(c.constant(first + 2));
  auto bankMask = unsigned(c.constant(first + 3));
  bool zeroOutside = c.constant(first + 4) != 0;
  Source source = dppSource(c, unsigned(c.constant(first + 1)));
  auto bitOf = [&](unsigned mask, Value* shifted) -> Value* {
    Value* bit = e.CreateLShr(e.getInt32(mask), e.CreateAnd(shifted, 3));
    return mask == 15 ? static_cast<Value*>(e.getTrue()) : e.CreateTrunc(bit, e.i(1));
  };
  Value* isWritten = e.CreateAnd(bitOf(rowMask, e.CreateLShr(lane(c), 4)),
                                 bitOf(bankMask, e.CreateLShr(lane(c), 2)));
  Value* isPresent = nullptr;
  Value* moved = inPieces(e, value, [&](unsigned, Value* piece) {
    Value* got = waveOperation(e, MNEME_WAVE_READ, e.CreateZExt(piece, e.i(64)), source.lane);
    isPresent = e.CreateTrunc(e.CreateLShr(got, 32), e.i(1));
    return e.CreateTrunc(got, e.i(32));
  });
  Value* isValid = e.CreateAnd(isPresent, source.isInside);
  Value* otherwise = zeroOutside ? Constant::getNullValue(c.type()) : old;
  return e.CreateSelect(isWritten, e.CreateSelect(isValid, moved, otherwise), old);
}

/// Bits of lanes below this one in the low (0) or high (1) half of `mask`, added to a number.
Value* countBelow(const AmdgcnCall& c) {
  Emit& e = c.emit;
  Value* self = e.CreateZExt(lane(c), e.i(64));
  Value* below = e.CreateSub(e.CreateShl(e.getInt64(1), self), e.getInt64(1));
  Value* half = e.CreateTrunc(e.CreateLShr(below, c.variant * 32), e.i(32));
  auto* mask = dyn_cast<ConstantInt>(c.operand(0));
  Value* count = nullptr;
  if (mask && mask->isMinusOne()) { // a lane's own number
    Value* high = e.CreateBinaryIntrinsic(Intrinsic::usub_sat, lane(c), e.getInt32(32));
    count = c.variant ? high : e.CreateBinaryIntrinsic(Intrinsic::umin, lane(c), e.getInt32(32));
  } else {
    count = e.CreateUnaryIntrinsic(Intrinsic::ctpop, e.CreateAnd(c.operand(0), half));
  }
  return e.CreateAdd(count, c.operand(1));
}

Value* ballot(const AmdgcnCall& c) {
  return c.emit.CreateZExtOrTrunc(waveBallot(c.emit, c.operand(0)), c.type());
}

/// icmp and fcmp: a ballot of a comparison; the last operand is LLVM's number of the predicate.
Value* compare(const AmdgcnCall& c) {
  auto predicate = static_cast<CmpInst::Predicate>(c.constant(2));
  Value* result = c.emit.CreateCmp(predicate, c.operand(0), c.operand(1));
  return c.emit.CreateZExtOrTrunc(waveBallot(c.emit, result), c.type());
}

Value* bitOfLane(const AmdgcnCall& c) {
  Emit& e = c.emit;
  Value* mask = c.operand(0);
  Value* shifted = e.CreateLShr(mask, e.CreateZExtOrTrunc(lane(c), mask->getType()));
  return e.CreateTrunc(shifted, e.i(1));
}

/// wave.reduce.<op>(value, strategy)
Value* reduce(const AmdgcnCall& c) {
  Emit& e = c.emit;
  if (c.type()->getScalarSizeInBits() != 32 || !c.type()->isIntegerTy())
    throwUnsupported("'" + c.call.getCalledFunction()->getName() + "' of this type",
                     *c.call.getFunction());
  Value* total = waveOperation(e, MNEME_WAVE_REDUCE, e.CreateZExt(c.operand(0), e.i(64)),
                               e.getInt32(c.variant));
  return e.CreateTrunc(total, e.i(32));
}

/// permlane16 and permlanex16(old, value, low, high, fetchInactive, boundControl): a lane of the
/// own row, or of the row beside it, by 4 bits for each lane of the row.
Value* permuteRow(const AmdgcnCall& c) {
  Emit& e = c.emit;
  Value* inRow = e.CreateAnd(lane(c), 15);
  Value* half = e.CreateSelect(e.CreateICmpULT(inRow, e.getInt32(8)), c.operand(2), c.operand(3));
  Value* index = e.CreateAnd(e.CreateLShr(half, e.CreateShl(e.CreateAnd(inRow, 7), 2)), 15);
  Value* row = e.CreateXor(e.CreateAnd(lane(c), ~15u), c.variant);
  Value* from = e.CreateOr(row, index);
  return exchange(c, MNEME_WAVE_READ, c.operand(1), from);
}

Value* otherHalf(const AmdgcnCall& c) {
  Value* from = c.traits.waveSize == 64 ? c.emit.CreateXor(lane(c), 32) : lane(c);
  return exchange(c, MNEME_WAVE_READ, c.operand(0), from);
}

/// The only register that is read by name: the lanes that are here.
Value* readRegister(const AmdgcnCall& c) {
  auto* holder = dyn_cast<MetadataAsValue>(c.operand(0));
  auto* node = holder ? dyn_cast<MDNode>(holder->getMetadata()) : nullptr;
  auto* name = node && node->getNumOperands() ? dyn_cast<MDString>(node->getOperand(0)) : nullptr;
  StringRef text = name ? name->getString() : "";
  if (!text.starts_with("exec"))
    throwUnsupported("the register '" + text + "'", *c.call.getFunction());
  Value* lanes = waveBallot(c.emit, c.emit.getTrue());
  if (text == "exec_hi")
    lanes = c.emit.CreateLShr(lanes, 32);
  return c.emit.CreateZExtOrTrunc(lanes, c.type());
}

constexpr AmdgcnRule kRules[] = {
    {"s.barrier", blockBarrier},
    {"s.barrier.signal", drop}, // the wait that follows lets nobody pass before all have signalled
    {"s.barrier.wait", blockBarrier},
    {"wave.barrier", waveBarrier},
    {"readfirstlane", firstLane},
    {"readlane", readLane},
    {"writelane", writeLane},
    {"ds.bpermute", permute, MNEME_WAVE_READ},
    {"ds.permute", permute, MNEME_WAVE_WRITE},
    {"ds.swizzle", swizzle},
    {"update.dpp", moveAcross, 1},
    {"mov.dpp", moveAcross, 0},
    {"mbcnt.lo", countBelow, 0},
    {"mbcnt.hi", countBelow, 1},
    {"ballot", ballot},
    {"inverse.ballot", bitOfLane},
    {"icmp", compare},
    {"fcmp", compare},
    {"wave.reduce.add", reduce, MNEME_REDUX_ADD},
    {"wave.reduce.umin", reduce, MNEME_REDUX_UMIN},
    {"wave.reduce.umax", reduce, MNEME_REDUX_UMAX},
    {"wave.reduce.min", reduce, MNEME_REDUX_MIN},
    {"wave.reduce.max", reduce, MNEME_REDUX_MAX},
    {"wave.reduce.and", reduce, MNEME_REDUX_AND},
    {"wave.reduce.or", reduce, MNEME_REDUX_OR},
    {"wave.reduce.xor", reduce, MNEME_REDUX_XOR},
    {"permlane16", permuteRow, 0},
    {"permlanex16", permuteRow, 16},
    {"permlane64", otherHalf},
    {"llvm.read_register", readRegister},
};

} // namespace

Value* waveOperation(Emit& e, unsigned operation, Value* value, Value* operand) {
  // The number is given when the kernel has its shape; until then nothing may merge or copy calls.
  CallInst* call = e.service(offsetof(mneme_cpu_services, wave), e.i(64),
                             {e.context(), e.getInt32(0), e.getInt32(operation), value, operand});
  call->addFnAttr(Attribute::Convergent);
  call->addFnAttr(Attribute::NoMerge);
  return call;
}

// In hardware the lanes of a wave go in step, so the vendor's groups within a wave synchronise by a
// fence alone: to acquire and release, in less than the whole system. Its other fences, those
// around barriers and __threadfence, have other orders.
SmallVector<FenceInst*> waveFences(Module& module) {
  SmallVector<FenceInst*> fences;
  for (Function& function : module)
    for (Instruction& instruction : instructions(function))
      if (auto* fence = dyn_cast<FenceInst>(&instruction);
          fence && fence->getOrdering() == AtomicOrdering::AcquireRelease &&
          fence->getSyncScopeID() != SyncScope::System)
        fences.push_back(fence);
  return fences;
}

void waitAtFences(ArrayRef<FenceInst*> fences) {
  for (FenceInst* fence : fences) {
    Emit emit(*fence);
    waveOperation(emit, MNEME_WAVE_SYNC, emit.getInt64(0), emit.getInt32(0));
  }
}

Value* waveBallot(Emit& e, Value* predicate) {
  return waveOperation(e, MNEME_WAVE_BALLOT, e.CreateZExt(predicate, e.i(64)), e.getInt32(0));
}

ArrayRef<AmdgcnRule> amdgcnWaveRules() { return kRules; }

} // namespace mneme::compile::cpu
