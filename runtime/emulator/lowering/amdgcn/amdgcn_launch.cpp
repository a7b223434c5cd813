// Where an AMDGCN kernel finds itself: indices, launch dimensions, clocks, address spaces, and
// hints that mean nothing here.
#include <cstddef>

#include <llvm/ADT/StringSwitch.h>

#include "runtime/core/abi/cpu_image.h"
#include "runtime/emulator/lowering/amdgcn/amdgcn.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

constexpr const char* kThread[] = {"tid.x", "tid.y", "tid.z"};
constexpr const char* kBlock[] = {"ctaid.x", "ctaid.y", "ctaid.z"};
constexpr const char* kBlockSize[] = {"ntid.x", "ntid.y", "ntid.z"};
constexpr const char* kGridSize[] = {"nctaid.x", "nctaid.y", "nctaid.z"};

Value* threadIndex(const AmdgcnCall& c) { return c.emit.specialRegister(kThread[c.variant]); }
Value* blockIndex(const AmdgcnCall& c) { return c.emit.specialRegister(kBlock[c.variant]); }

/// Memory laid out as the launch's own, written where the function begins. What is read at known
/// places is taken from it again before anything runs.
class LaunchMemory {
public:
  LaunchMemory(const AmdgcnCall& c, uint64_t sizeBytes, const char* name)
      : emit_(*c.call.getFunction()->getEntryBlock().getFirstNonPHIOrDbgOrAlloca()) {
    memory_ = emit_.CreateAlloca(ArrayType::get(emit_.getInt8Ty(), sizeBytes), nullptr, name);
    memory_->setAlignment(Align(16));
    emit_.CreateMemSet(memory_, emit_.getInt8(0), sizeBytes, Align(16));
  }

  Emit& emit() { return emit_; }
  void put(uint64_t offset, unsigned bits, Value* value) {
    emit_.CreateStore(emit_.CreateZExtOrTrunc(value, emit_.i(bits)),
                      emit_.CreateConstInBoundsGEP1_64(emit_.getInt8Ty(), memory_, offset));
  }
  void putAxes(uint64_t offset, unsigned bits, const char* const* registers) {
    for (unsigned d = 0; d < 3; ++d)
      put(offset + d * bits / 8, bits, emit_.specialRegister(registers[d]));
  }
  Value* address(const AmdgcnCall& c) { return c.emit.CreateAddrSpaceCast(memory_, c.type()); }

private:
  Emit emit_;
  AllocaInst* memory_ = nullptr;
};

/// The hidden arguments behind the kernel's own, since code object 5: block counts, block sizes,
/// sizes of the last partial blocks (there are none), offsets (zero), number of dimensions.
/// Before, they say nothing about dimensions.
Value* hiddenArguments(const AmdgcnCall& c) {
  LaunchMemory memory(c, 256, "hidden.arguments");
  if (c.traits.codeObject >= 500) {
    memory.putAxes(0, 32, kGridSize);
    memory.putAxes(12, 16, kBlockSize);
    memory.put(64, 16, memory.emit().getInt16(3));
    Value* dynamicBytes = memory.emit().launchField(memory.emit().context(),
                                                    offsetof(mneme_cpu_launch, dynamicSharedBytes),
                                                    memory.emit().i(32));
    memory.put(120, 32, dynamicBytes);
  }
  return memory.address(c);
}

/// HSA's dispatch packet: block size and grid size, the latter in threads.
Value* dispatchPacket(const AmdgcnCall& c) {
  LaunchMemory memory(c, 64, "dispatch.packet");
  memory.put(2, 16, memory.emit().getInt16(3));
  memory.putAxes(4, 16, kBlockSize);
  for (unsigned d = 0; d < 3; ++d)
    memory.put(12 + 4 * d, 32,
               memory.emit().CreateMul(memory.emit().specialRegister(kGridSize[d]),
                                       memory.emit().specialRegister(kBlockSize[d])));
  return memory.address(c);
}

Value* dispatchNumber(const AmdgcnCall& c) { return c.emit.specialRegister("gridid"); }

Value* waveSize(const AmdgcnCall& c) { return c.emit.getInt32(c.traits.waveSize); }

Value* staticSharedSize(const AmdgcnCall& c) {
  Emit& e = c.emit;
  return e.CreateSub(e.specialRegister("total_smem_size"), e.specialRegister("dynamic_smem_size"));
}

Value* isSharedPointer(const AmdgcnCall& c) {
  return c.emit.intrinsic("mneme.is.shared", c.emit.getInt1Ty(), {c.operand(0)});
}
/// Host addresses do not distinguish local memory.
Value* isPrivatePointer(const AmdgcnCall& c) { return c.emit.getFalse(); }

Value* cycles(const AmdgcnCall& c) {
  return c.emit.service(offsetof(mneme_cpu_services, clock), c.emit.i(64), {});
}
/// Ticks of 10 ns, as HIP's wall clock counts on most devices.
Value* wallClock(const AmdgcnCall& c) {
  Value* time = c.emit.service(offsetof(mneme_cpu_services, global_timer), c.emit.i(64), {});
  return c.emit.CreateUDiv(time, c.emit.getInt64(10));
}

Value* sleep(const AmdgcnCall& c) {
  Emit& e = c.emit;
  e.service(offsetof(mneme_cpu_services, nanosleep), e.getVoidTy(), {e.context(), e.getInt32(0)});
  return nullptr;
}

Value* endProgram(const AmdgcnCall& c) {
  c.emit.intrinsic("llvm.nvvm.exit", c.emit.getVoidTy(), {});
  return nullptr;
}

/// Hardware registers: which compute unit this is (where HW_ID is asked for), otherwise zero.
Value* hardwareRegister(const AmdgcnCall& c) {
  constexpr unsigned kHardwareId = 4;
  if ((c.constant(0) & 63) == kHardwareId)
    return c.emit.specialRegister("smid");
  return c.emit.getInt32(0);
}

/// What the device's libraries make of a grid's barrier: one thread of each block comes here, and
/// the first operand says how many others do.
Value* gridBarrier(const AmdgcnCall& c) {
  Value* others = c.emit.CreateZExt(c.operand(0), c.emit.i(64));
  gridArrival(c.emit, c.emit.CreateAdd(others, c.emit.getInt64(1)));
  return nullptr;
}

Value* drop(const AmdgcnCall&) { return nullptr; }

constexpr AmdgcnRule kRules[] = {
    {"workitem.id.x", threadIndex, 0},
    {"workitem.id.y", threadIndex, 1},
    {"workitem.id.z", threadIndex, 2},
    {"workgroup.id.x", blockIndex, 0},
    {"workgroup.id.y", blockIndex, 1},
    {"workgroup.id.z", blockIndex, 2},
    {"implicitarg.ptr", hiddenArguments},
    {"dispatch.ptr", dispatchPacket},
    {"dispatch.id", dispatchNumber},
    {"wavefrontsize", waveSize},
    {"groupstaticsize", staticSharedSize},
    {"is.shared", isSharedPointer},
    {"is.private", isPrivatePointer},
    {"s.memtime", cycles},
    {"s.memrealtime", wallClock},
    {"s.sleep", sleep},
    {"s.sleep.var", sleep},
    {"endpgm", endProgram},
    {"s.getreg", hardwareRegister},
    {"ds.gws.barrier", gridBarrier},
    {"ds.gws.init", drop},
    {"s.waitcnt", drop},
    {"s.setprio", drop},
    {"s.nop", drop},
    {"s.dcache.inv", drop},
    {"s.dcache.wb", drop},
    {"s.icache.inv", drop},
    {"buffer.wbinvl1", drop},
    {"buffer.wbinvl1.vol", drop},
    {"buffer.gl0.inv", drop},
    {"buffer.gl1.inv", drop},
    {"s.wait.event.export.ready", drop},
    {"sched.barrier", drop},
    {"sched.group.barrier", drop},
    {"iglp.opt", drop},
    {"s.ttracedata", drop},
    {"s.prefetch.data", drop},
};

} // namespace

ArrayRef<AmdgcnRule> amdgcnLaunchRules() { return kRules; }

} // namespace mneme::compile::cpu
