#include "runtime/emulator/lowering/mbarrier.h"

#include "runtime/emulator/lowering/inline_ptx/ptx.h"
#include "runtime/emulator/lowering/nvptx/table.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

constexpr unsigned kPendingShift = 20;
constexpr unsigned kBytesShift = 40;
constexpr unsigned kPhaseShift = 61;
constexpr uint64_t kCountMask = (1u << kPendingShift) - 1;
constexpr uint64_t kBytesMask = (1u << (kPhaseShift - kBytesShift)) - 1;

Value* wide(Emit& e, Value* number) { return e.CreateZExtOrTrunc(number, e.i(64)); }

Value* field(Emit& e, Value* word, unsigned shift, uint64_t mask) {
  return e.CreateAnd(e.CreateLShr(word, shift), mask);
}

template <typename Access> Access* indivisible(Access* access) {
  access->setMetadata(kIndivisibleMetadata, MDNode::get(access->getContext(), {}));
  return access;
}

/// The object's word, taken apart.
struct State {
  Value* word;
  Value* expected;
  Value* pending;
  Value* bytes; ///< modulo 2^21: below zero where the bytes came before they were announced
};

State read(Emit& e, Value* object) {
  Value* word = indivisible(e.CreateAlignedLoad(e.i(64), object, Align(8), true));
  return {word, e.CreateAnd(word, kCountMask), field(e, word, kPendingShift, kCountMask),
          field(e, word, kBytesShift, kBytesMask)};
}

/// The phase ends where neither threads nor bytes are awaited any longer.
void write(Emit& e, Value* object, const State& state) {
  Value* isComplete =
      e.CreateICmpEQ(e.CreateOr(state.pending, state.bytes), ConstantInt::get(e.i(64), 0));
  Value* phase =
      e.CreateAdd(e.CreateLShr(state.word, kPhaseShift), e.CreateZExt(isComplete, e.i(64)));
  Value* pending = e.CreateSelect(isComplete, state.expected, state.pending);
  Value* word = e.CreateOr(state.expected, e.CreateShl(pending, kPendingShift));
  word = e.CreateOr(word, e.CreateShl(state.bytes, kBytesShift));
  word = e.CreateOr(word, e.CreateShl(phase, kPhaseShift));
  indivisible(e.CreateAlignedStore(word, object, Align(8), true));
}

} // namespace

void mbarrierInit(Emit& e, Value* object, Value* count) {
  Value* expected = e.CreateAnd(wide(e, count), kCountMask);
  Value* word = e.CreateOr(expected, e.CreateShl(expected, kPendingShift));
  indivisible(e.CreateAlignedStore(word, object, Align(8), true));
}

Value* mbarrierArrive(Emit& e, Value* object, Value* count, bool drops) {
  State state = read(e, object);
  Value* arrived = wide(e, count);
  if (drops)
    state.expected = e.CreateAnd(e.CreateSub(state.expected, arrived), kCountMask);
  state.pending = e.CreateAnd(e.CreateSub(state.pending, arrived), kCountMask);
  write(e, object, state);
  return state.word;
}

void mbarrierExpectBytes(Emit& e, Value* object, Value* bytes) {
  State state = read(e, object);
  state.bytes = e.CreateAnd(e.CreateAdd(state.bytes, wide(e, bytes)), kBytesMask);
  write(e, object, state);
}

void mbarrierCompleteBytes(Emit& e, Value* object, Value* bytes) {
  mbarrierExpectBytes(e, object, e.CreateNeg(wide(e, bytes)));
}

Value* mbarrierTestWait(Emit& e, Value* object, Value* token) {
  Value* now = e.CreateLShr(read(e, object).word, kPhaseShift);
  return e.CreateICmpNE(now, e.CreateLShr(token, kPhaseShift));
}

Value* mbarrierTestParity(Emit& e, Value* object, Value* parity) {
  Value* now = e.CreateAnd(e.CreateLShr(read(e, object).word, kPhaseShift), 1);
  return e.CreateICmpNE(now, e.CreateAnd(wide(e, parity), 1));
}

Value* mbarrierPendingCount(Emit& e, Value* token) {
  return e.CreateTrunc(e.CreateAnd(e.CreateLShr(token, kPendingShift), kCountMask), e.i(32));
}

namespace {

// Intrinsics.

Value* initIntrinsic(const NvvmCall& c) {
  mbarrierInit(c.emit, c.operand(0), c.operand(1));
  return nullptr;
}

Value* invalidateIntrinsic(const NvvmCall&) { return nullptr; }

Value* arriveIntrinsic(const NvvmCall& c) {
  Value* count = c.call.arg_size() > 1 ? c.operand(1) : c.emit.getInt32(1);
  return mbarrierArrive(c.emit, c.operand(0), count, c.variant);
}

Value* testWaitIntrinsic(const NvvmCall& c) {
  return mbarrierTestWait(c.emit, c.operand(0), c.operand(1));
}

Value* pendingIntrinsic(const NvvmCall& c) { return mbarrierPendingCount(c.emit, c.operand(0)); }

/// Copies are complete when issued, so the arrival they trigger happens at once; without .noinc the
/// count was raised by one for it before.
Value* copyArrivalIntrinsic(const NvvmCall& c) {
  if (c.variant)
    mbarrierArrive(c.emit, c.operand(0), c.emit.getInt32(1), false);
  return nullptr;
}

constexpr NvvmRule kNvvmRules[] = {
    {"mbarrier.init", 0, initIntrinsic},
    {"mbarrier.init.shared", 0, initIntrinsic},
    {"mbarrier.inval", 0, invalidateIntrinsic},
    {"mbarrier.inval.shared", 0, invalidateIntrinsic},
    {"mbarrier.arrive", 0, arriveIntrinsic, 0},
    {"mbarrier.arrive.shared", 0, arriveIntrinsic, 0},
    {"mbarrier.arrive.noComplete", 0, arriveIntrinsic, 0},
    {"mbarrier.arrive.noComplete.shared", 0, arriveIntrinsic, 0},
    {"mbarrier.arrive.drop", 0, arriveIntrinsic, 1},
    {"mbarrier.arrive.drop.shared", 0, arriveIntrinsic, 1},
    {"mbarrier.arrive.drop.noComplete", 0, arriveIntrinsic, 1},
    {"mbarrier.arrive.drop.noComplete.shared", 0, arriveIntrinsic, 1},
    {"mbarrier.test.wait", 0, testWaitIntrinsic},
    {"mbarrier.test.wait.shared", 0, testWaitIntrinsic},
    {"mbarrier.pending.count", 0, pendingIntrinsic},
    {"cp.async.mbarrier.arrive", 0, copyArrivalIntrinsic, 0},
    {"cp.async.mbarrier.arrive.shared", 0, copyArrivalIntrinsic, 0},
    {"cp.async.mbarrier.arrive.noinc", 0, copyArrivalIntrinsic, 1},
    {"cp.async.mbarrier.arrive.noinc.shared", 0, copyArrivalIntrinsic, 1},
};

// PTX.

/// arrive.expect_tx announces bytes, and arrives once.
void arrive(PtxContext& c, PtxInstruction& i, bool drops) {
  Value* object = c.address(i.operands[1], true);
  Value* count = c.e.getInt32(1);
  if (i.take("expect_tx"))
    mbarrierExpectBytes(c.e, object, c.read(i.operands[2], c.e.i(32)));
  else if (i.operands.size() == 3)
    count = c.read(i.operands[2], c.e.i(32));
  else if (i.operands.size() != 2)
    c.unsupported(i);
  c.write(i.operands[0], mbarrierArrive(c.e, object, count, drops));
}

void wait(PtxContext& c, PtxInstruction& i) {
  if (i.operands.size() != 3 && i.operands.size() != 4) // the fourth is a time limit
    c.unsupported(i);
  Value* object = c.address(i.operands[1], true);
  Value* isDone = i.take("parity")
                      ? mbarrierTestParity(c.e, object, c.read(i.operands[2], c.e.i(32)))
                      : mbarrierTestWait(c.e, object, c.read(i.operands[2], c.e.i(64)));
  c.write(i.operands[0], isDone);
}

void mbarrier(PtxContext& c, PtxInstruction& i) {
  for (const char* word : {"b64", "cta", "cluster", "release", "acquire", "relaxed", "noComplete"})
    i.take(word);
  if (i.takeAny({"shared", "shared::cta", "shared::cluster", "pending_count"}) < 0)
    c.unsupported(i);
  switch (i.takeAny({"init", "inval", "arrive", "arrive_drop", "test_wait", "try_wait", "expect_tx",
                     "complete_tx"})) {
  case 0:
    mbarrierInit(c.e, c.address(i.operands.at(0), true), c.read(i.operands.at(1), c.e.i(32)));
    break;
  case 1:
    break;
  case 2:
    arrive(c, i, false);
    break;
  case 3:
    arrive(c, i, true);
    break;
  case 4:
  case 5:
    wait(c, i);
    break;
  case 6:
    mbarrierExpectBytes(c.e, c.address(i.operands[0], true), c.read(i.operands[1], c.e.i(32)));
    break;
  case 7:
    mbarrierCompleteBytes(c.e, c.address(i.operands[0], true), c.read(i.operands[1], c.e.i(32)));
    break;
  default: // pending_count
    if (i.operands.size() != 2)
      c.unsupported(i);
    c.write(i.operands[0], mbarrierPendingCount(c.e, c.read(i.operands[1], c.e.i(64))));
  }
}

constexpr PtxRule kPtxRules[] = {{"mbarrier", mbarrier}};

} // namespace

std::span<const NvvmRule> nvvmBarrierObjectRules() { return kNvvmRules; }
std::span<const PtxRule> ptxBarrierObjectRules() { return kPtxRules; }

} // namespace mneme::compile::cpu
