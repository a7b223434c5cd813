#include "runtime/emulator/lowering/in_step/in_step_access.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PatternMatch.h>

#include "runtime/emulator/lowering/emit.h"

using namespace llvm;

namespace mneme::compile::cpu::in_step {
namespace {

constexpr unsigned kSharedSpace = 3;
/// Kernels with more accesses to memory of the device than this are looked at in shared memory
/// only.
constexpr ptrdiff_t kMostInDeviceMemory = 512;

/// What conditions say that must hold where something happens.
class Guards {
public:
  Guards(Sums& sums, const DominatorTree& dominators) : sums_(sums), dominators_(dominators) {}

  std::vector<Sum> at(const BasicBlock& block) {
    std::vector<Sum> facts;
    for (const DomTreeNode* node = dominators_.getNode(&block); node && node->getIDom();
         node = node->getIDom()) {
      auto* branch = dyn_cast<BranchInst>(node->getIDom()->getBlock()->getTerminator());
      if (!branch || !branch->isConditional() || branch->getSuccessor(0) == branch->getSuccessor(1))
        continue;
      for (unsigned way = 0; way < 2; ++way)
        if (dominators_.dominates(BasicBlockEdge(branch->getParent(), branch->getSuccessor(way)),
                                  &block))
          learn(branch->getCondition(), way == 0, facts);
    }
    return facts;
  }

private:
  void learn(Value* condition, bool holds, std::vector<Sum>& facts, unsigned depth = 0) {
    using namespace PatternMatch;
    Value *left = nullptr, *right = nullptr;
    if (depth > 8)
      return;
    if (match(condition, m_Not(m_Value(left))))
      return learn(left, !holds, facts, depth + 1);
    if (holds ? match(condition, m_LogicalAnd(m_Value(left), m_Value(right)))
              : match(condition, m_LogicalOr(m_Value(left), m_Value(right)))) {
      learn(left, holds, facts, depth + 1);
      return learn(right, holds, facts, depth + 1);
    }
    if (auto* comparison = dyn_cast<ICmpInst>(condition);
        comparison && comparison->getOperand(0)->getType()->isIntegerTy())
      compare(*comparison, holds, facts);
  }

  void compare(ICmpInst& comparison, bool holds, std::vector<Sum>& facts) {
    const Sum left = sums_.of(comparison.getOperand(0));
    const Sum right = sums_.of(comparison.getOperand(1));
    const auto atLeast = [&](const Sum& larger, const Sum& smaller, int64_t by) {
      Sum fact = larger;
      add(fact, smaller, -1);
      add(fact, constant(by), -1);
      facts.push_back(std::move(fact));
    };
    switch (holds ? comparison.getPredicate() : comparison.getInversePredicate()) {
    case CmpInst::ICMP_EQ:
      atLeast(left, right, 0);
      return atLeast(right, left, 0);
    case CmpInst::ICMP_NE: // of what is counted from zero: indices
      if (right.empty() && isIndex(left))
        atLeast(left, right, 1);
      return;
    case CmpInst::ICMP_UGT:
    case CmpInst::ICMP_SGT:
      return atLeast(left, right, 1);
    case CmpInst::ICMP_UGE:
    case CmpInst::ICMP_SGE:
      return atLeast(left, right, 0);
    case CmpInst::ICMP_ULT:
    case CmpInst::ICMP_SLT:
      return atLeast(right, left, 1);
    case CmpInst::ICMP_ULE:
    case CmpInst::ICMP_SLE:
      return atLeast(right, left, 0);
    default:
      return;
    }
  }

  bool isIndex(const Sum& sum) const {
    return all_of(sum, [&](const auto& term) {
      return term.second > 0 &&
             all_of(term.first, [&](Leaf leaf) { return sums_.facts(leaf).isThread; });
    });
  }

  Sums& sums_;
  const DominatorTree& dominators_;
};

/// Adds the indices of an address, and that each stays within its array.
void addIndices(GEPOperator& address, const DataLayout& layout, Sums& sums, Access& access) {
  Type* within = nullptr; // what the index chooses from; null: whatever the pointer points to
  for (auto step = gep_type_begin(address), end = gep_type_end(address); step != end; ++step) {
    Value* index = step.getOperand();
    if (StructType* type = step.getStructTypeOrNull()) {
      const auto field = unsigned(cast<ConstantInt>(index)->getZExtValue());
      add(access.offset, constant(int64_t(layout.getStructLayout(type)->getElementOffset(field))));
    } else {
      const Sum sum = sums.of(index);
      add(access.offset, sum, int64_t(step.getSequentialElementStride(layout).getFixedValue()));
      if (auto* array = dyn_cast_or_null<ArrayType>(within); array && array->getNumElements()) {
        access.notNegative.push_back(sum);
        Sum above = constant(int64_t(array->getNumElements()) - 1);
        add(above, sum, -1);
        access.notNegative.push_back(above);
      }
    }
    within = step.getIndexedType();
  }
}

/// Analyses the address. Returns false if nothing is known about what it points to.
bool locate(Value* pointer, const DataLayout& layout, Sums& sums, Access& access) {
  for (unsigned depth = 0; depth < 32; ++depth) {
    if (auto* address = dyn_cast<GEPOperator>(pointer)) {
      if (address->getType()->isVectorTy())
        return false;
      addIndices(*address, layout, sums, access);
      pointer = address->getPointerOperand();
    } else if (auto* cast = dyn_cast<AddrSpaceCastOperator>(pointer)) {
      pointer = cast->getPointerOperand();
    } else {
      break;
    }
  }
  access.base = pointer;
  SmallVector<const Value*> objects;
  getUnderlyingObjects(pointer, objects);
  for (const Value* object : objects) {
    const auto* variable = dyn_cast<GlobalVariable>(object);
    access.isShared |= variable && variable->getAddressSpace() == kSharedSpace;
    access.objects.insert(object);
  }
  const bool isKnown = all_of(objects, [](const Value* object) {
    return isa<GlobalVariable>(object) || isa<Argument>(object) || isa<LoadInst>(object);
  });
  return isKnown && !objects.empty();
}

/// Numbers offsets and facts, so that they are compared quickly.
void numberParts(std::vector<Access>& accesses) {
  std::map<Sum, unsigned> forms;
  std::map<std::vector<Sum>, unsigned> facts;
  for (Access& access : accesses) {
    Sum form = access.offset;
    if (const auto number = form.find(Product()); number != form.end()) {
      access.displacement = number->second;
      form.erase(number);
    }
    access.form = forms.try_emplace(std::move(form), unsigned(forms.size())).first->second;
    erase_if(access.notNegative, [](const Sum& sum) {
      return sum.empty() ||
             (sum.size() == 1 && sum.begin()->first.empty() && sum.begin()->second > 0);
    });
    access.facts = facts.try_emplace(access.notNegative, unsigned(facts.size())).first->second;
  }
}

Value* addressOf(Instruction& instruction, bool& writes, Type*& type) {
  if (auto* load = dyn_cast<LoadInst>(&instruction)) {
    type = load->getType();
    return load->isAtomic() ? nullptr : load->getPointerOperand();
  }
  auto* store = dyn_cast<StoreInst>(&instruction);
  writes = true;
  type = store ? store->getValueOperand()->getType() : nullptr;
  return store && !store->isAtomic() ? store->getPointerOperand() : nullptr;
}

} // namespace

std::vector<Access> findAccesses(Function& kernel, Sums& sums, const DominatorTree& dominators) {
  const DataLayout& layout = kernel.getParent()->getDataLayout();
  Guards guards(sums, dominators);
  std::vector<Access> accesses;
  const auto dependsOnThread = [&](const Access& access) {
    return access.offset.contains({sums.threadIndex(0)});
  };
  const auto note = [&](Instruction& instruction, Value* pointer, bool writes, int64_t bytes) {
    Access access;
    access.instruction = &instruction;
    access.writes = writes;
    access.bytes = bytes;
    if (!locate(pointer, layout, sums, access) || (!access.isShared && !dependsOnThread(access)))
      return;
    std::vector<Sum> facts = guards.at(*instruction.getParent());
    access.notNegative.insert(access.notNegative.end(), facts.begin(), facts.end());
    accesses.push_back(std::move(access));
  };
  for (Instruction& instruction : instructions(kernel)) {
    bool writes = false;
    Type* type = nullptr;
    if (instruction.hasMetadata(kIndivisibleMetadata))
      continue;
    if (auto* copy = dyn_cast<MemIntrinsic>(&instruction)) {
      auto* length = dyn_cast<ConstantInt>(copy->getLength());
      const int64_t bytes = length ? int64_t(length->getZExtValue()) : 1;
      note(instruction, copy->getRawDest(), true, bytes);
      if (auto* from = dyn_cast<MemTransferInst>(copy))
        note(instruction, from->getRawSource(), false, bytes);
    } else if (Value* pointer = addressOf(instruction, writes, type)) {
      note(instruction, pointer, writes, int64_t(layout.getTypeStoreSize(type).getFixedValue()));
    }
  }
  const auto isOfDevice = [](const Access& access) { return !access.isShared; };
  if (count_if(accesses, isOfDevice) > kMostInDeviceMemory)
    erase_if(accesses, isOfDevice);
  numberParts(accesses);
  return accesses;
}

} // namespace mneme::compile::cpu::in_step
