// A step of the lowering (steps.h): gives shared variables their place in the memory of a block.
#include <cstddef>

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "runtime/core/abi/cpu_image.h"
#include "runtime/emulator/lowering/emit.h"
#include "runtime/emulator/lowering/steps.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

constexpr unsigned kSharedSpace = 3;
// What the vendor promises for dynamic shared memory.
constexpr uint64_t kDynamicAlign = 16;
constexpr uint64_t kReservedBytes = 1024;
constexpr uint64_t kReservedAlign = 128;

bool isDynamic(const GlobalVariable& global) {
  return global.isDeclaration() ||
         global.getParent()->getDataLayout().getTypeAllocSize(global.getValueType()) == 0;
}

/// The block's shared memory, loaded once at the entry of each function.
class SharedBase {
public:
  explicit SharedBase(Function& kernel) : kernel_(kernel) {}

  Value* contextOf(Emit& emit, Function& function) {
    return &function == &kernel_ ? emit.context() : function.getArg(0);
  }

  Value* in(Function& function) {
    Value*& base = bases_[&function];
    if (!base) {
      Emit emit(*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
      auto* load = cast<LoadInst>(emit.contextField(
          contextOf(emit, function), offsetof(mneme_cpu_context, shared), emit.getPtrTy()));
      load->setName("shared");
      load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(emit.getContext(), {}));
      base = load;
    }
    return base;
  }

private:
  Function& kernel_;
  DenseMap<Function*, Value*> bases_;
};

void placeVariable(GlobalVariable& global, uint64_t offset, SharedBase& shared) {
  for (Use& use : make_early_inc_range(global.uses())) {
    auto* user = dyn_cast<Instruction>(use.getUser());
    if (!user)
      continue;
    Function& function = *user->getFunction();
    auto* base = cast<Instruction>(shared.in(function));
    IRBuilder<> builder(base->getNextNode());
    Value* place = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base, offset);
    if (auto* cast = dyn_cast<AddrSpaceCastInst>(user);
        cast && cast->getType()->getPointerAddressSpace() == 0) {
      cast->replaceAllUsesWith(place);
      cast->eraseFromParent();
    } else {
      use.set(builder.CreateAddrSpaceCast(place, global.getType()));
    }
  }
  global.eraseFromParent();
}

/// Integers made of shared pointers are offsets into the block's area, as on the GPU: programs keep
/// them in 32 bits.
void lowerSharedIntegers(Module& module, SharedBase& shared) {
  SmallVector<Instruction*> casts;
  for (Function& function : module)
    for (Instruction& instruction : instructions(function)) {
      auto* cast = dyn_cast<CastInst>(&instruction);
      if (!cast)
        continue;
      Type* pointer = isa<PtrToIntInst>(cast) ? cast->getSrcTy() : cast->getDestTy();
      if ((isa<PtrToIntInst>(cast) || isa<IntToPtrInst>(cast)) && pointer->isPointerTy() &&
          pointer->getPointerAddressSpace() == kSharedSpace)
        casts.push_back(cast);
    }
  for (Instruction* cast : casts) {
    Value* base = shared.in(*cast->getFunction());
    Emit emit(*cast);
    Value* origin = emit.CreatePtrToInt(base, emit.i(64));
    Value* result = nullptr;
    if (isa<PtrToIntInst>(cast)) {
      Value* address = emit.CreatePtrToInt(cast->getOperand(0), emit.i(64));
      result = emit.CreateZExtOrTrunc(emit.CreateSub(address, origin), cast->getType());
    } else {
      Value* offset = emit.CreateZExtOrTrunc(cast->getOperand(0), emit.i(64));
      result = emit.CreateAddrSpaceCast(emit.CreatePtrAdd(base, offset), cast->getType());
    }
    cast->replaceAllUsesWith(result);
    cast->eraseFromParent();
  }
}

/// mneme.is.shared(p): p lies in the block's area.
void lowerRangeChecks(Module& module, SharedBase& shared, uint64_t staticBytes) {
  Function* check = module.getFunction("mneme.is.shared");
  if (!check)
    return;
  for (User* user : make_early_inc_range(check->users())) {
    auto* call = cast<CallInst>(user);
    Value* base = shared.in(*call->getFunction());
    Emit emit(*call);
    Value* dynamicBytes =
        emit.launchField(shared.contextOf(emit, *call->getFunction()),
                         offsetof(mneme_cpu_launch, dynamicSharedBytes), emit.i(32));
    Value* size =
        emit.CreateAdd(emit.CreateZExt(dynamicBytes, emit.i(64)), emit.getInt64(staticBytes));
    Value* offset = emit.CreateSub(emit.CreatePtrToInt(call->getArgOperand(0), emit.i(64)),
                                   emit.CreatePtrToInt(base, emit.i(64)));
    replaceCall(*call, emit.CreateICmpULT(offset, size));
  }
  check->eraseFromParent();
}

/// Memory the vendor reserves in every block for its own libraries: zero when the block starts.
/// Programs find it through a special register.
void placeReserved(Module& module, Function& kernel, SharedLayout& layout, SharedBase& shared) {
  SmallVector<CallInst*> reads;
  for (const char* prefix : {"llvm.nvvm.read.ptx.sreg.", kRegisterPrefix}) // also of inline PTX
    if (Function* read = module.getFunction(prefix + std::string("reserved_smem_offset_1")))
      for (User* user : read->users())
        reads.push_back(cast<CallInst>(user));
  if (reads.empty())
    return;
  uint64_t offset = alignTo(layout.staticBytes, kReservedAlign);
  layout.staticBytes = offset + kReservedBytes;
  layout.alignBytes = std::max(layout.alignBytes, kReservedAlign);
  layout.hasBarrier = true;
  for (CallInst* call : reads)
    replaceCall(*call, ConstantInt::get(call->getType(), offset));
  Instruction* base = cast<Instruction>(shared.in(kernel));
  Instruction* position = base->getNextNode();
  Emit check(*position);
  Value* rank = check.CreateOr(check.specialRegister("tid.x"), check.specialRegister("tid.y"));
  rank = check.CreateOr(rank, check.specialRegister("tid.z"));
  Instruction* then = SplitBlockAndInsertIfThen(check.CreateIsNull(rank), position, false);
  Emit clear(*then);
  clear.CreateMemSet(clear.CreateConstInBoundsGEP1_64(clear.getInt8Ty(), base, offset),
                     clear.getInt8(0), kReservedBytes, Align(16));
  Emit wait(*position);
  wait.service(offsetof(mneme_cpu_services, barrier), wait.getVoidTy(),
               {wait.context(), wait.getInt32(0), wait.getInt32(0)});
}

} // namespace

SharedLayout lowerSharedMemory(Module& module, Function& kernel) {
  SmallVector<GlobalVariable*> variables;
  SmallVector<GlobalVariable*> dynamic;
  for (GlobalVariable& global : module.globals())
    if (global.getAddressSpace() == kSharedSpace)
      (isDynamic(global) ? dynamic : variables).push_back(&global);
  SmallVector<Constant*> constants(variables.begin(), variables.end());
  constants.append(dynamic.begin(), dynamic.end());
  convertUsersOfConstantsToInstructions(constants);
  SharedBase shared(kernel);
  SharedLayout layout;
  placeReserved(module, kernel, layout, shared);
  const DataLayout& data = module.getDataLayout();
  for (GlobalVariable* global : variables) {
    Align align =
        std::max(global->getAlign().valueOrOne(), data.getABITypeAlign(global->getValueType()));
    uint64_t offset = alignTo(layout.staticBytes, align);
    layout.alignBytes = std::max(layout.alignBytes, align.value());
    layout.staticBytes = offset + data.getTypeAllocSize(global->getValueType());
    placeVariable(*global, offset, shared);
  }
  uint64_t dynamicAlign = kDynamicAlign;
  for (GlobalVariable* global : dynamic)
    dynamicAlign = std::max(dynamicAlign, global->getAlign().valueOrOne().value());
  if (!dynamic.empty() || layout.staticBytes) {
    layout.alignBytes = std::max(layout.alignBytes, dynamicAlign);
    layout.staticBytes = alignTo(layout.staticBytes, dynamicAlign);
  }
  for (GlobalVariable* global : dynamic)
    placeVariable(*global, layout.staticBytes, shared);
  lowerSharedIntegers(module, shared);
  lowerRangeChecks(module, shared, layout.staticBytes);
  return layout;
}

} // namespace mneme::compile::cpu
