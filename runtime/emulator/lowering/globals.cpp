// A step of the lowering (steps.h): device variables are reached through slots that the loader
// fills.
#include <llvm/ADT/MapVector.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/ReplaceConstant.h>

#include "runtime/core/base/error.h"
#include "runtime/emulator/lowering/emit.h"
#include "runtime/emulator/lowering/steps.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

constexpr unsigned kConstantSpace = 4;

bool isOwn(const GlobalVariable& global) { return global.getName().starts_with("mneme."); }

/// True for strings and tables only this image can see.
bool staysInImage(const GlobalVariable& global) {
  bool isLocal = global.hasLocalLinkage() || global.hasLinkOnceLinkage();
  return isOwn(global) || (isLocal && global.isConstant() && !global.isExternallyInitialized() &&
                           global.hasInitializer());
}

bool refersTo(const Constant* constant, const SmallPtrSetImpl<const GlobalVariable*>& set) {
  if (auto* global = dyn_cast<GlobalVariable>(constant))
    return set.contains(global);
  if (isa<GlobalValue>(constant))
    return false;
  return any_of(constant->operands(), [&](const Use& use) {
    auto* operand = dyn_cast<Constant>(use.get());
    return operand && refersTo(operand, set);
  });
}

/// Every variable that needs a slot: those the image does not keep, then constants that hold
/// addresses of such.
SmallVector<GlobalVariable*> slotVariables(Module& module) {
  SmallVector<GlobalVariable*> slots;
  SmallPtrSet<const GlobalVariable*, 16> set;
  for (GlobalVariable& global : module.globals())
    if (!staysInImage(global)) {
      slots.push_back(&global);
      set.insert(&global);
    }
  for (bool changed = true; changed;) {
    changed = false;
    for (GlobalVariable& global : module.globals())
      if (!set.contains(&global) && !isOwn(global) && global.hasInitializer() &&
          refersTo(global.getInitializer(), set)) {
        slots.push_back(&global);
        set.insert(&global);
        changed = true;
      }
  }
  return slots;
}

class GlobalLowering {
public:
  GlobalLowering(Module& module, GlobalTable& table) : module_(module), table_(table) {}

  void run() {
    SmallVector<GlobalVariable*> slots = slotVariables(module_);
    for (GlobalVariable* global : slots)
      index_[global] = uint32_t(index_.size());
    for (GlobalVariable* global : slots)
      table_.entries.push_back(describe(*global));
    SmallVector<Constant*> constants(slots.begin(), slots.end());
    for (GlobalVariable* global : slots)
      global->setInitializer(nullptr);
    convertUsersOfConstantsToInstructions(constants);
    for (GlobalVariable* global : slots)
      loadFromSlot(*global, *table_.entries[index_[global]].slot);
  }

private:
  GlobalTable::Entry describe(GlobalVariable& global) {
    const DataLayout& layout = module_.getDataLayout();
    GlobalTable::Entry entry;
    entry.name = global.getName().str();
    entry.sizeBytes = layout.getTypeAllocSize(global.getValueType());
    entry.alignBytes =
        std::max(global.getAlign().valueOrOne(), layout.getABITypeAlign(global.getValueType()))
            .value();
    entry.isConstant = global.isConstant() || global.getAddressSpace() == kConstantSpace;
    entry.isDefined = global.hasInitializer();
    entry.slot = new GlobalVariable(
        module_, PointerType::get(module_.getContext(), 0), false, GlobalValue::InternalLinkage,
        ConstantPointerNull::get(PointerType::get(module_.getContext(), 0)),
        "mneme.slot." + entry.name);
    if (global.hasInitializer()) {
      owner_ = index_[&global];
      Constant* initializer = withoutSlots(global.getInitializer(), 0);
      if (!initializer->isNullValue() && !isa<UndefValue>(initializer)) {
        entry.initializer =
            new GlobalVariable(module_, initializer->getType(), true, GlobalValue::InternalLinkage,
                               initializer, "mneme.init." + entry.name);
        entry.initializer->setAlignment(Align(entry.alignBytes));
      }
    }
    if (entry.isConstant)
      table_.constantBytes += entry.sizeBytes;
    return entry;
  }

  /// `constant` with addresses of slot variables zeroed and noted as relocations.
  Constant* withoutSlots(Constant* constant, uint64_t offset) {
    const DataLayout& layout = module_.getDataLayout();
    if (constant->getType()->isPointerTy() || isa<ConstantExpr>(constant))
      return relocate(constant, offset);
    auto* aggregate = dyn_cast<ConstantAggregate>(constant);
    if (!aggregate)
      return constant;
    SmallVector<Constant*> elements;
    for (unsigned index = 0; index < aggregate->getNumOperands(); ++index) {
      uint64_t place = offset;
      if (auto* type = dyn_cast<StructType>(constant->getType()))
        place += layout.getStructLayout(type)->getElementOffset(index);
      else
        place += index * layout.getTypeAllocSize(aggregate->getOperand(0)->getType());
      elements.push_back(withoutSlots(aggregate->getOperand(index), place));
    }
    if (auto* type = dyn_cast<StructType>(constant->getType()))
      return ConstantStruct::get(type, elements);
    if (auto* type = dyn_cast<ArrayType>(constant->getType()))
      return ConstantArray::get(type, elements);
    return ConstantVector::get(elements);
  }

  Constant* relocate(Constant* constant, uint64_t offset) {
    const DataLayout& layout = module_.getDataLayout();
    Constant* pointer = constant;
    if (auto* expression = dyn_cast<ConstantExpr>(constant);
        expression && expression->getOpcode() == Instruction::PtrToInt &&
        constant->getType()->isIntegerTy(64))
      pointer = expression->getOperand(0);
    if (!pointer->getType()->isPointerTy())
      return requireNoSlot(constant);
    APInt addend(64, 0);
    const Value* base = pointer;
    // Casts between address spaces are no-ops here; offsets may sit on both sides of one.
    for (const Value* last = nullptr; base != last;) {
      last = base;
      base = base->stripAndAccumulateConstantOffsets(layout, addend, true);
      if (auto* cast = dyn_cast<AddrSpaceCastOperator>(base))
        base = cast->getOperand(0);
    }
    auto* global = dyn_cast<GlobalVariable>(base);
    auto found = global ? index_.find(const_cast<GlobalVariable*>(global)) : index_.end();
    if (found == index_.end())
      return requireNoSlot(constant);
    table_.relocations.push_back({owner_, found->second, offset, addend.getSExtValue()});
    return Constant::getNullValue(constant->getType());
  }

  Constant* requireNoSlot(Constant* constant) {
    SmallPtrSet<const GlobalVariable*, 16> set;
    for (auto& [global, number] : index_)
      set.insert(global);
    if (refersTo(constant, set))
      throw Error(ErrorCode::Unsupported,
                  "the initializer of a device variable computes with the address of another one "
                  "in a way the CPU device cannot relocate");
    return constant;
  }

  void loadFromSlot(GlobalVariable& global, GlobalVariable& slot) {
    DenseMap<Function*, Value*> loads;
    for (Use& use : make_early_inc_range(global.uses())) {
      auto* user = dyn_cast<Instruction>(use.getUser());
      if (!user)
        continue;
      Value*& address = loads[user->getFunction()];
      if (!address) {
        IRBuilder<> builder(&*user->getFunction()->getEntryBlock().getFirstInsertionPt());
        LoadInst* load = builder.CreateLoad(slot.getValueType(), &slot, global.getName());
        load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(builder.getContext(), {}));
        address = load;
      }
      if (auto* cast = dyn_cast<AddrSpaceCastInst>(user);
          cast && cast->getType()->getPointerAddressSpace() == 0) {
        cast->replaceAllUsesWith(address);
        cast->eraseFromParent();
        continue;
      }
      IRBuilder<> builder(cast<Instruction>(address)->getNextNode());
      use.set(builder.CreateAddrSpaceCast(address, global.getType()));
    }
    global.removeDeadConstantUsers();
    global.eraseFromParent();
  }

  Module& module_;
  GlobalTable& table_;
  MapVector<GlobalVariable*, uint32_t> index_;
  uint32_t owner_ = 0;
};

} // namespace

GlobalTable lowerGlobals(Module& module) {
  GlobalTable table;
  GlobalLowering(module, table).run();
  const DataLayout& layout = module.getDataLayout();
  for (GlobalVariable& global : module.globals())
    if (!isOwn(global)) {
      table.constantBytes += layout.getTypeAllocSize(global.getValueType());
      global.setLinkage(GlobalValue::InternalLinkage);
    }
  return table;
}

} // namespace mneme::compile::cpu
