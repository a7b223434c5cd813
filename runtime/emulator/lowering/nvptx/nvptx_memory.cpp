// Memory intrinsics of NVVM: scoped atomics, fences, address spaces, cache hints.
#include "runtime/emulator/lowering/nvptx/table.h"

#include "runtime/core/abi/cpu_image.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

constexpr auto kSystem = SyncScope::System;

Value* atomicUpdate(const NvvmCall& c) {
  auto operation = static_cast<AtomicRMWInst::BinOp>(c.variant);
  if (operation == AtomicRMWInst::Add && c.type()->isFloatingPointTy())
    operation = AtomicRMWInst::FAdd;
  return c.emit.CreateAtomicRMW(operation, c.operand(0), c.operand(1), MaybeAlign(),
                                AtomicOrdering::SequentiallyConsistent, kSystem);
}

Value* atomicCompareExchange(const NvvmCall& c) {
  Value* pair = c.emit.CreateAtomicCmpXchg(c.operand(0), c.operand(1), c.operand(2), MaybeAlign(),
                                           AtomicOrdering::SequentiallyConsistent,
                                           AtomicOrdering::SequentiallyConsistent, kSystem);
  return c.emit.CreateExtractValue(pair, 0);
}

Value* fence(const NvvmCall& c) {
  c.emit.CreateFence(AtomicOrdering::SequentiallyConsistent, kSystem);
  return nullptr;
}

Value* readOnlyLoad(const NvvmCall& c) {
  uint64_t align = cast<ConstantInt>(c.operand(1))->getZExtValue();
  return c.emit.CreateAlignedLoad(c.type(), c.operand(0), MaybeAlign(align));
}

Value* drop(const NvvmCall&) { return nullptr; }

Value* passThrough(const NvvmCall& c) { return c.operand(0); }

enum Space : unsigned { Global, Shared, Constant, Local };

/// One flat address space: shared memory is the block's area, everything else counts as global
/// (host addresses do not distinguish constant and local memory).
Value* isSpace(const NvvmCall& c) {
  Emit& e = c.emit;
  Value* isShared = e.intrinsic("mneme.is.shared", e.getInt1Ty(), {c.operand(0)});
  if (c.variant == Shared)
    return isShared;
  return c.variant == Global ? e.CreateNot(isShared) : e.getFalse();
}

/// cp.async: copies at once; `variant` is the size, the optional third operand how much is real.
Value* copyAsync(const NvvmCall& c) {
  Emit& e = c.emit;
  Value* count = e.getInt64(c.variant);
  if (c.call.arg_size() > 2) {
    e.CreateMemSet(c.operand(0), e.getInt8(0), c.variant, MaybeAlign());
    count = e.CreateBinaryIntrinsic(Intrinsic::umin, e.CreateZExt(c.operand(2), e.i(64)), count);
  }
  e.CreateMemCpy(c.operand(0), MaybeAlign(), c.operand(1), MaybeAlign(), count);
  return nullptr;
}

constexpr NvvmRule kRules[] = {
    {"atomic.add.gen.f.cta", 0, atomicUpdate, AtomicRMWInst::FAdd},
    {"atomic.add.gen.f.sys", 0, atomicUpdate, AtomicRMWInst::FAdd},
    {"atomic.add.gen.i.cta", 0, atomicUpdate, AtomicRMWInst::Add},
    {"atomic.add.gen.i.sys", 0, atomicUpdate, AtomicRMWInst::Add},
    {"atomic.inc.gen.i.cta", 0, atomicUpdate, AtomicRMWInst::UIncWrap},
    {"atomic.inc.gen.i.sys", 0, atomicUpdate, AtomicRMWInst::UIncWrap},
    {"atomic.dec.gen.i.cta", 0, atomicUpdate, AtomicRMWInst::UDecWrap},
    {"atomic.dec.gen.i.sys", 0, atomicUpdate, AtomicRMWInst::UDecWrap},
    {"atomic.exch.gen.i.cta", 0, atomicUpdate, AtomicRMWInst::Xchg},
    {"atomic.exch.gen.i.sys", 0, atomicUpdate, AtomicRMWInst::Xchg},
    {"atomic.xor.gen.i.cta", 0, atomicUpdate, AtomicRMWInst::Xor},
    {"atomic.xor.gen.i.sys", 0, atomicUpdate, AtomicRMWInst::Xor},
    {"atomic.or.gen.i.cta", 0, atomicUpdate, AtomicRMWInst::Or},
    {"atomic.or.gen.i.sys", 0, atomicUpdate, AtomicRMWInst::Or},
    {"atomic.and.gen.i.cta", 0, atomicUpdate, AtomicRMWInst::And},
    {"atomic.and.gen.i.sys", 0, atomicUpdate, AtomicRMWInst::And},
    {"atomic.max.gen.i.cta", 0, atomicUpdate, AtomicRMWInst::Max},
    {"atomic.max.gen.i.sys", 0, atomicUpdate, AtomicRMWInst::Max},
    {"atomic.min.gen.i.cta", 0, atomicUpdate, AtomicRMWInst::Min},
    {"atomic.min.gen.i.sys", 0, atomicUpdate, AtomicRMWInst::Min},
    {"atomic.cas.gen.i.cta", 0, atomicCompareExchange},
    {"atomic.cas.gen.i.sys", 0, atomicCompareExchange},
    {"membar.cta", 0, fence},
    {"membar.gl", 0, fence},
    {"membar.sys", 0, fence},
    {"fence.sc.cluster", 0, fence},
    {"ldu.global.i", 0, readOnlyLoad},
    {"ldu.global.f", 0, readOnlyLoad},
    {"ldu.global.p", 0, readOnlyLoad},
    {"ldg.global.i", 0, readOnlyLoad},
    {"ldg.global.f", 0, readOnlyLoad},
    {"ldg.global.p", 0, readOnlyLoad},
    {"isspacep.global", 0, isSpace, Global},
    {"isspacep.shared", 0, isSpace, Shared},
    {"isspacep.shared.cluster", 0, isSpace, Shared},
    {"isspacep.const", 0, isSpace, Constant},
    {"isspacep.local", 0, isSpace, Local},
    {"cp.async.ca.shared.global.4", 0, copyAsync, 4},
    {"cp.async.ca.shared.global.8", 0, copyAsync, 8},
    {"cp.async.ca.shared.global.16", 0, copyAsync, 16},
    {"cp.async.cg.shared.global.16", 0, copyAsync, 16},
    {"cp.async.ca.shared.global.4.s", 0, copyAsync, 4},
    {"cp.async.ca.shared.global.8.s", 0, copyAsync, 8},
    {"cp.async.ca.shared.global.16.s", 0, copyAsync, 16},
    {"cp.async.cg.shared.global.16.s", 0, copyAsync, 16},
    {"cp.async.commit.group", 0, drop},
    {"cp.async.wait.group", 0, drop},
    {"cp.async.wait.all", 0, drop},
    {"move.i16", 0, passThrough},
    {"move.i32", 0, passThrough},
    {"move.i64", 0, passThrough},
    {"move.float", 0, passThrough},
    {"move.double", 0, passThrough},
    {"move.ptr", 0, passThrough},
    {"prefetch.L1", 0, drop},
    {"prefetch.L2", 0, drop},
    {"prefetch.global.L1", 0, drop},
    {"prefetch.global.L2", 0, drop},
    {"prefetch.global.L2.evict.last", 0, drop},
    {"prefetch.global.L2.evict.normal", 0, drop},
    {"prefetch.local.L1", 0, drop},
    {"prefetch.local.L2", 0, drop},
    {"prefetchu.L1", 0, drop},
    {"applypriority.L2.evict.normal", 0, drop},
    {"applypriority.global.L2.evict.normal", 0, drop},
    {"griddepcontrol.launch.dependents", 0, drop},
    {"griddepcontrol.wait", 0, drop},
    {"pm.event.mask", 0, drop},
};

} // namespace

std::span<const NvvmRule> nvvmMemoryRules() { return kRules; }

} // namespace mneme::compile::cpu
