// Intrinsics of NVVM by which threads talk to each other. They become calls of the runtime.
#include "runtime/emulator/lowering/nvptx/table.h"

#include <cstddef>

#include "runtime/core/abi/cpu_image.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

Value* barrier(const NvvmCall& c) {
  Emit& e = c.emit;
  Value* count = c.call.arg_size() > 1 ? c.operand(1) : e.getInt32(0);
  e.service(offsetof(mneme_cpu_services, barrier), e.getVoidTy(),
            {e.context(), c.operand(0), count});
  return nullptr;
}

/// Threads that do not wait.
Value* barrierArrive(const NvvmCall& c) {
  Emit& e = c.emit;
  e.service(offsetof(mneme_cpu_services, barrier), e.getVoidTy(),
            {e.context(), e.CreateOr(c.operand(0), MNEME_BARRIER_ARRIVE), c.operand(1)});
  return nullptr;
}

/// barrier0(): the whole block at barrier 0.
Value* barrierZero(const NvvmCall& c) {
  Emit& e = c.emit;
  e.service(offsetof(mneme_cpu_services, barrier), e.getVoidTy(),
            {e.context(), e.getInt32(0), e.getInt32(0)});
  return nullptr;
}

/// A cluster is one block: no thread passes the wait before all threads of the block have arrived.
Value* clusterArrive(const NvvmCall&) { return nullptr; }

Value* barrierReduce(const NvvmCall& c) {
  Emit& e = c.emit;
  Value* predicate = c.operand(c.call.arg_size() - 1);
  if (predicate->getType()->getIntegerBitWidth() != 1)
    predicate = e.CreateIsNotNull(predicate);
  Value* id = c.call.arg_size() > 1 ? c.operand(0) : e.getInt32(0);
  Value* result =
      e.service(offsetof(mneme_cpu_services, barrier_reduce), e.i(32),
                {e.context(), id, e.getInt32(c.variant), e.CreateZExt(predicate, e.i(32))});
  return c.type()->isIntegerTy(1) ? e.CreateIsNotNull(result) : result;
}

Value* warpSync(const NvvmCall& c) {
  Emit& e = c.emit;
  e.service(offsetof(mneme_cpu_services, warp_sync), e.getVoidTy(), {e.context(), c.operand(0)});
  return nullptr;
}

Value* shuffle(const NvvmCall& c) {
  Emit& e = c.emit;
  bool hasPredicate = c.type()->isStructTy();
  Type* type = hasPredicate ? c.type()->getStructElementType(0) : c.type();
  IRBuilder<> entry(&*c.call.getFunction()->getEntryBlock().getFirstInsertionPt());
  Value* inRange = entry.CreateAlloca(e.i(32), nullptr, "shuffle.inRange");
  Value* bits = e.CreateBitCast(c.operand(1), e.i(32));
  Value* result = e.service(offsetof(mneme_cpu_services, shuffle), e.i(32),
                            {e.context(), c.operand(0), e.getInt32(c.variant), bits, c.operand(2),
                             c.operand(3), inRange});
  result = e.CreateBitCast(result, type);
  if (!hasPredicate)
    return result;
  Value* predicate = e.CreateIsNotNull(e.CreateLoad(e.i(32), inRange));
  Value* pair = e.CreateInsertValue(PoisonValue::get(c.type()), result, 0);
  return e.CreateInsertValue(pair, predicate, 1);
}

Value* vote(const NvvmCall& c) {
  Emit& e = c.emit;
  Value* predicate = e.CreateZExt(c.operand(1), e.i(32));
  Value* result = e.service(offsetof(mneme_cpu_services, vote), e.i(32),
                            {e.context(), c.operand(0), e.getInt32(c.variant), predicate});
  return c.type()->isIntegerTy(1) ? e.CreateIsNotNull(result) : result;
}

Value* matchAny(const NvvmCall& c) {
  Emit& e = c.emit;
  return e.service(offsetof(mneme_cpu_services, match_any), e.i(32),
                   {e.context(), c.operand(0), e.CreateZExt(c.operand(1), e.i(64))});
}

Value* matchAll(const NvvmCall& c) {
  Emit& e = c.emit;
  IRBuilder<> entry(&*c.call.getFunction()->getEntryBlock().getFirstInsertionPt());
  Value* allEqual = entry.CreateAlloca(e.i(32), nullptr, "match.allEqual");
  Value* mask =
      e.service(offsetof(mneme_cpu_services, match_all), e.i(32),
                {e.context(), c.operand(0), e.CreateZExt(c.operand(1), e.i(64)), allEqual});
  Value* predicate = e.CreateIsNotNull(e.CreateLoad(e.i(32), allEqual));
  Value* pair = e.CreateInsertValue(PoisonValue::get(c.type()), mask, 0);
  return e.CreateInsertValue(pair, predicate, 1);
}

Value* warpReduce(const NvvmCall& c) {
  Emit& e = c.emit;
  // llvm.nvvm.redux.sync.<op>(value, mask)
  return e.service(offsetof(mneme_cpu_services, warp_reduce), e.i(32),
                   {e.context(), c.operand(1), e.getInt32(c.variant), c.operand(0)});
}

Value* activeMask(const NvvmCall& c) {
  return c.emit.service(offsetof(mneme_cpu_services, active_mask), c.emit.i(32),
                        {c.emit.context()});
}

/// The lowest thread of the mask is elected.
Value* elect(const NvvmCall& c) {
  Emit& e = c.emit;
  Value* mask = c.operand(0);
  e.service(offsetof(mneme_cpu_services, warp_sync), e.getVoidTy(), {e.context(), mask});
  Value* leader = e.CreateBinaryIntrinsic(Intrinsic::cttz, mask, e.getFalse());
  Value* isLeader = e.CreateICmpEQ(leader, e.specialRegister("laneid"));
  Value* pair = e.CreateInsertValue(PoisonValue::get(c.type()), leader, 0);
  return e.CreateInsertValue(pair, isLeader, 1);
}

Value* nanosleep(const NvvmCall& c) {
  Emit& e = c.emit;
  e.service(offsetof(mneme_cpu_services, nanosleep), e.getVoidTy(), {e.context(), c.operand(0)});
  return nullptr;
}

constexpr NvvmRule kRules[] = {
    {"bar.sync", 0, barrier}, // of LLVM before 21
    {"barrier0", 0, barrierZero},
    {"barrier.cluster.arrive", 0, clusterArrive},
    {"barrier.cluster.arrive.aligned", 0, clusterArrive},
    {"barrier.cluster.arrive.relaxed", 0, clusterArrive},
    {"barrier.cluster.arrive.relaxed.aligned", 0, clusterArrive},
    {"barrier.cluster.wait", 0, barrierZero},
    {"barrier.cluster.wait.aligned", 0, barrierZero},
    {"barrier.cta.sync.all", 0, barrier},
    {"barrier.cta.sync.aligned.all", 0, barrier},
    {"barrier.cta.sync.count", 0, barrier},
    {"barrier.cta.sync.aligned.count", 0, barrier},
    {"barrier.cta.arrive.count", 0, barrierArrive},
    {"barrier.cta.arrive.aligned.count", 0, barrierArrive},
    {"barrier0.popc", 0, barrierReduce, MNEME_REDUCE_POPC},
    {"barrier0.and", 0, barrierReduce, MNEME_REDUCE_AND},
    {"barrier0.or", 0, barrierReduce, MNEME_REDUCE_OR},
    {"barrier.cta.red.popc.all", 0, barrierReduce, MNEME_REDUCE_POPC},
    {"barrier.cta.red.popc.aligned.all", 0, barrierReduce, MNEME_REDUCE_POPC},
    {"barrier.cta.red.and.all", 0, barrierReduce, MNEME_REDUCE_AND},
    {"barrier.cta.red.and.aligned.all", 0, barrierReduce, MNEME_REDUCE_AND},
    {"barrier.cta.red.or.all", 0, barrierReduce, MNEME_REDUCE_OR},
    {"barrier.cta.red.or.aligned.all", 0, barrierReduce, MNEME_REDUCE_OR},
    {"bar.warp.sync", 0, warpSync},
    {"shfl.sync.idx.i32", 0, shuffle, MNEME_SHFL_IDX},
    {"shfl.sync.idx.f32", 0, shuffle, MNEME_SHFL_IDX},
    {"shfl.sync.idx.i32p", 0, shuffle, MNEME_SHFL_IDX},
    {"shfl.sync.idx.f32p", 0, shuffle, MNEME_SHFL_IDX},
    {"shfl.sync.up.i32", 0, shuffle, MNEME_SHFL_UP},
    {"shfl.sync.up.f32", 0, shuffle, MNEME_SHFL_UP},
    {"shfl.sync.up.i32p", 0, shuffle, MNEME_SHFL_UP},
    {"shfl.sync.up.f32p", 0, shuffle, MNEME_SHFL_UP},
    {"shfl.sync.down.i32", 0, shuffle, MNEME_SHFL_DOWN},
    {"shfl.sync.down.f32", 0, shuffle, MNEME_SHFL_DOWN},
    {"shfl.sync.down.i32p", 0, shuffle, MNEME_SHFL_DOWN},
    {"shfl.sync.down.f32p", 0, shuffle, MNEME_SHFL_DOWN},
    {"shfl.sync.bfly.i32", 0, shuffle, MNEME_SHFL_BFLY},
    {"shfl.sync.bfly.f32", 0, shuffle, MNEME_SHFL_BFLY},
    {"shfl.sync.bfly.i32p", 0, shuffle, MNEME_SHFL_BFLY},
    {"shfl.sync.bfly.f32p", 0, shuffle, MNEME_SHFL_BFLY},
    {"vote.all.sync", 0, vote, MNEME_VOTE_ALL},
    {"vote.any.sync", 0, vote, MNEME_VOTE_ANY},
    {"vote.uni.sync", 0, vote, MNEME_VOTE_UNI},
    {"vote.ballot.sync", 0, vote, MNEME_VOTE_BALLOT},
    {"match.any.sync.i32", 0, matchAny},
    {"match.any.sync.i64", 0, matchAny},
    {"match.all.sync.i32p", 0, matchAll},
    {"match.all.sync.i64p", 0, matchAll},
    {"redux.sync.add", 0, warpReduce, MNEME_REDUX_ADD},
    {"redux.sync.umin", 0, warpReduce, MNEME_REDUX_UMIN},
    {"redux.sync.umax", 0, warpReduce, MNEME_REDUX_UMAX},
    {"redux.sync.min", 0, warpReduce, MNEME_REDUX_MIN},
    {"redux.sync.max", 0, warpReduce, MNEME_REDUX_MAX},
    {"redux.sync.and", 0, warpReduce, MNEME_REDUX_AND},
    {"redux.sync.or", 0, warpReduce, MNEME_REDUX_OR},
    {"redux.sync.xor", 0, warpReduce, MNEME_REDUX_XOR},
    {"activemask", 0, activeMask},
    {"elect.sync", 0, elect},
    {"nanosleep", 0, nanosleep},
};

} // namespace

std::span<const NvvmRule> nvvmSyncRules() { return kRules; }

} // namespace mneme::compile::cpu
