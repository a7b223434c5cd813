// A step of the lowering (steps.h): thread and block indices come from loops or from the
// context.
#include <cstddef>

#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/InstIterator.h>

#include "runtime/core/abi/cpu_image.h"
#include "runtime/emulator/lowering/emit.h"
#include "runtime/emulator/lowering/steps.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

constexpr StringRef kPrefix = "llvm.nvvm.read.ptx.sreg.";

/// Where the values come from at one call: the kernel's loop variables or the context.
class Registers {
public:
  Registers(Emit& emit, const ThreadValues* values, Value* context, const KernelFacts& facts)
      : e_(emit), values_(values), context_(values ? values->context : context), facts_(facts) {}

  Value* read(StringRef name) {
    if (name.size() > 2 && name[name.size() - 2] == '.')
      if (Value* value = dimension(name.drop_back(2), unsigned(name.back() - 'x')))
        return value;
    return scalar(name);
  }

private:
  Value* thread(unsigned d) {
    return values_ ? values_->thread[d] : field(offsetof(mneme_cpu_context, threadId) + 4 * d);
  }
  Value* block(unsigned d) {
    return values_ ? values_->block[d] : field(offsetof(mneme_cpu_context, blockId) + 4 * d);
  }
  Value* blockSize(unsigned d) {
    return values_ ? values_->blockSize[d] : launch(offsetof(mneme_cpu_launch, block) + 4 * d);
  }
  Value* gridSize(unsigned d) {
    return values_ ? values_->gridSize[d] : launch(offsetof(mneme_cpu_launch, grid) + 4 * d);
  }
  Value* clusterSize(unsigned d) { return launch(offsetof(mneme_cpu_launch, cluster) + 4 * d); }
  Value* field(size_t offset) { return e_.contextField(context_, offset, e_.i(32)); }
  Value* launch(size_t offset) { return e_.launchField(context_, offset, e_.i(32)); }

  Value* dimension(StringRef family, unsigned d) {
    if (d == unsigned('w' - 'x')) // the fourth component: index 0 of size 1
      return e_.getInt32(family.contains("ntid") || family.contains("ncta") ||
                         family.contains("ncluster"));
    if (d > 2)
      return nullptr;
    if (family == "tid")
      return thread(d);
    if (family == "ctaid")
      return block(d);
    if (family == "ntid")
      return blockSize(d);
    if (family == "nctaid")
      return gridSize(d);
    if (family == "cluster.nctaid")
      return clusterSize(d);
    if (family == "cluster.ctaid")
      return e_.CreateURem(block(d), clusterSize(d));
    if (family == "clusterid")
      return e_.CreateUDiv(block(d), clusterSize(d));
    if (family == "nclusterid")
      return e_.CreateUDiv(gridSize(d), clusterSize(d));
    return nullptr;
  }

  Value* linearThread() {
    Value* rows = e_.CreateAdd(e_.CreateMul(thread(2), blockSize(1)), thread(1));
    return e_.CreateAdd(e_.CreateMul(rows, blockSize(0)), thread(0));
  }
  Value* lane() { return e_.CreateAnd(linearThread(), facts_.warpSize - 1); }

  Value* laneMask(StringRef kind) {
    Value* equal = e_.CreateShl(e_.getInt32(1), lane());
    Value* below = e_.CreateSub(equal, e_.getInt32(1));
    if (kind == "eq")
      return equal;
    if (kind == "lt")
      return below;
    if (kind == "le")
      return e_.CreateOr(below, equal);
    Value* fromHere = e_.CreateNot(below);
    return kind == "ge" ? fromHere : e_.CreateXor(fromHere, equal);
  }

  Value* product(unsigned family) {
    Value* result = e_.getInt32(1);
    for (unsigned d = 0; d < 3; ++d)
      result = e_.CreateMul(result, family ? clusterSize(d) : blockSize(d));
    return result;
  }

  Value* clusterRank() {
    Value* x = dimension("cluster.ctaid", 0);
    Value* y = dimension("cluster.ctaid", 1);
    Value* z = dimension("cluster.ctaid", 2);
    Value* rows = e_.CreateAdd(e_.CreateMul(z, clusterSize(1)), y);
    return e_.CreateAdd(e_.CreateMul(rows, clusterSize(0)), x);
  }

  Value* scalar(StringRef name) {
    Value* dynamic = nullptr;
    if (name.ends_with("smem_size"))
      dynamic = launch(offsetof(mneme_cpu_launch, dynamicSharedBytes));
    if (name == "dynamic_smem_size")
      return dynamic;
    if (name == "total_smem_size" || name == "aggr_smem_size")
      return e_.CreateAdd(dynamic, e_.getInt32(uint32_t(facts_.staticSharedBytes)));
    if (name == "warpsize")
      return e_.getInt32(facts_.warpSize);
    if (name == "laneid")
      return lane();
    if (name == "warpid")
      return e_.CreateUDiv(linearThread(), e_.getInt32(facts_.warpSize));
    if (name == "nwarpid")
      return e_.CreateUDiv(e_.CreateAdd(product(0), e_.getInt32(facts_.warpSize - 1)),
                           e_.getInt32(facts_.warpSize));
    if (name.starts_with("lanemask."))
      return laneMask(name.drop_front(9));
    if (name == "gridid")
      return e_.launchField(context_, offsetof(mneme_cpu_launch, gridId), e_.i(64));
    if (name == "cluster.nctarank")
      return product(1);
    if (name == "cluster.ctarank")
      return clusterRank();
    return fromRuntime(name);
  }

  /// Registers 1 (high) and 2 (low) hold the address of the workspace for synchronising the grid.
  Value* gridWorkspace(bool isHigh) {
    Value* address = e_.launchField(context_, offsetof(mneme_cpu_launch, gridWorkspace), e_.i(64));
    return e_.CreateTrunc(isHigh ? e_.CreateLShr(address, 32) : address, e_.i(32));
  }

  Value* fromRuntime(StringRef name) {
    if (name == "envreg1" || name == "envreg2")
      return gridWorkspace(name == "envreg1");
    if (name == "nsmid") // an upper bound of smid, which is a host thread's number
      return e_.getInt32(1024);
    if (name == "smid")
      return e_.service(offsetof(mneme_cpu_services, multiprocessor), e_.i(32), {context_});
    if (name.starts_with("clock")) {
      Value* cycles = e_.service(offsetof(mneme_cpu_services, clock), e_.i(64), {});
      if (name == "clock.hi")
        return e_.CreateTrunc(e_.CreateLShr(cycles, 32), e_.i(32));
      return name == "clock64" ? cycles : e_.CreateTrunc(cycles, e_.i(32));
    }
    if (name.starts_with("globaltimer")) {
      Value* time = e_.service(offsetof(mneme_cpu_services, global_timer), e_.i(64), {});
      if (name == "globaltimer.hi")
        return e_.CreateTrunc(e_.CreateLShr(time, 32), e_.i(32));
      return name == "globaltimer" ? time : e_.CreateTrunc(time, e_.i(32));
    }
    return nullptr;
  }

  Emit& e_;
  const ThreadValues* values_;
  Value* context_;
  const KernelFacts& facts_;
};

} // namespace

void resolveSpecialRegisters(Function& function, const ThreadValues* values,
                             const KernelFacts& facts) {
  SmallVector<CallInst*> calls;
  for (Instruction& instruction : instructions(function))
    if (auto* call = dyn_cast<CallInst>(&instruction))
      if (Function* callee = call->getCalledFunction(); callee)
        if (callee->getName().starts_with(kPrefix) ||
            callee->getName().starts_with(kRegisterPrefix) ||
            callee->getName() == "llvm.nvvm.is_explicit_cluster")
          calls.push_back(call);
  for (CallInst* call : calls) {
    StringRef full = call->getCalledFunction()->getName();
    Emit emit(*call);
    Registers registers(emit, values, function.arg_empty() ? nullptr : function.getArg(0), facts);
    Value* value = nullptr;
    if (full.consume_front(kPrefix) || full.consume_front(kRegisterPrefix))
      value = registers.read(full);
    else
      value = emit.CreateICmpNE(registers.read("cluster.nctarank"), emit.getInt32(1));
    if (!value)
      throwUnsupported("the special register '" + full + "'", function);
    replaceCall(*call, value);
  }
}

} // namespace mneme::compile::cpu
