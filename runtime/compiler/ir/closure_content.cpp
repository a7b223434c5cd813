#include "runtime/compiler/ir/closure_content.h"

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include "runtime/compiler/ir/memory_writes.h"
#include "runtime/compiler/ir/struct_reads.h"

namespace mneme::ir {

/// One question to ClosureContent.
class ContentWalk {
public:
  explicit ContentWalk(ClosureContent& content)
      : content_(content), layout_(content.kernel_.getParent()->getDataLayout()) {}

  /// Whether `bytes` of a value or a memory could be followed; all sources so far agree.
  bool inMemory(llvm::Value& address, int64_t offset, uint64_t size) {
    llvm::Value* base = &address;
    while (llvm::Value* next = stepBack(*base, offset))
      base = next;
    if (!seen_.insert({base, offset}).second)
      return true;
    if (auto* choice = llvm::dyn_cast<llvm::PHINode>(base))
      return llvm::all_of(choice->incoming_values(),
                          [&](llvm::Use& one) { return inMemory(*one.get(), offset, size); });
    if (auto* choice = llvm::dyn_cast<llvm::SelectInst>(base))
      return inMemory(*choice->getTrueValue(), offset, size) &&
             inMemory(*choice->getFalseValue(), offset, size);
    if (auto* call = llvm::dyn_cast<llvm::CallBase>(base))
      content_.obstacles_.insert(call);
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(base))
      return throughStored(*load, offset, size);
    if (auto* argument = llvm::dyn_cast<llvm::Argument>(base))
      return isKernels(*argument) && argument->getType()->isPointerTy() &&
             structByValue(*argument) && writes(*argument, offset, size) &&
             found({argument->getArgNo(), offset});
    if (llvm::isa<llvm::AllocaInst>(base))
      return writes(*base, offset, size);
    return false;
  }

  std::optional<ArgumentBytes> result() const { return result_; }

private:
  bool isKernels(const llvm::Argument& argument) const {
    return argument.getParent() == &content_.kernel_;
  }

  bool found(ArgumentBytes bytes) {
    if (!result_)
      result_ = bytes;
    return *result_ == bytes;
  }

  /// The address that this one is at a constant distance from; null if there is none.
  llvm::Value* stepBack(llvm::Value& value, int64_t& offset) {
    if (auto* address = llvm::dyn_cast<llvm::GEPOperator>(&value)) {
      llvm::APInt more(layout_.getIndexTypeSizeInBits(address->getType()), 0);
      if (!address->accumulateConstantOffset(layout_, more))
        return nullptr;
      offset += more.getSExtValue();
      return address->getPointerOperand();
    }
    if (auto* user = llvm::dyn_cast<llvm::Operator>(&value)) {
      switch (user->getOpcode()) {
      case llvm::Instruction::AddrSpaceCast:
      case llvm::Instruction::BitCast:
      case llvm::Instruction::PtrToInt:
      case llvm::Instruction::IntToPtr:
      case llvm::Instruction::Freeze:
        return user->getOperand(0);
      case llvm::Instruction::Add:
      case llvm::Instruction::Sub:
        if (auto* more = llvm::dyn_cast<llvm::ConstantInt>(user->getOperand(1))) {
          const bool isSum = user->getOpcode() == llvm::Instruction::Add;
          offset += isSum ? more->getSExtValue() : -more->getSExtValue();
          return user->getOperand(0);
        }
        break;
      default:
        break;
      }
    }
    return nullptr;
  }

  /// An address that was kept in memory: all that may be there must lead to the same.
  bool throughStored(llvm::LoadInst& load, int64_t offset, uint64_t size) {
    int64_t at = 0;
    llvm::Value* base = load.getPointerOperand();
    while (llvm::Value* next = stepBack(*base, at))
      base = next;
    if (!llvm::isa<llvm::AllocaInst>(base) || load.isVolatile())
      return false;
    const uint64_t bytes = layout_.getTypeStoreSize(load.getType()).getFixedValue();
    MemoryWrites found(*base, at, bytes, &content_.operator_);
    note(found);
    return !found.isUnknown && !found.writes.empty() &&
           llvm::all_of(found.writes, [&](const MemoryWrite& write) {
             return write.value && write.offset == 0 && inMemory(*write.value, offset, size);
           });
  }

  /// What is written to these bytes. Those of an argument may be left as they are.
  bool writes(llvm::Value& base, int64_t offset, uint64_t size) {
    MemoryWrites found(base, offset, size, &content_.operator_);
    note(found);
    if (found.isUnknown || (found.writes.empty() && !llvm::isa<llvm::Argument>(base)))
      return false;
    return llvm::all_of(found.writes, [&](const MemoryWrite& write) {
      return write.value ? inValue(*write.value, write.offset, size)
                         : inMemory(*write.source, write.offset, size);
    });
  }

  void note(const MemoryWrites& found) {
    content_.obstacles_.insert(found.obstacles.begin(), found.obstacles.end());
  }

  bool inValue(llvm::Value& value, int64_t offset, uint64_t size) {
    if (llvm::isa<llvm::UndefValue>(value)) // poison, too
      return true;
    if (!seen_.insert({&value, ~offset}).second)
      return true;
    if (auto* call = llvm::dyn_cast<llvm::CallBase>(&value))
      content_.obstacles_.insert(call);
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&value))
      return load->isSimple() && inMemory(*load->getPointerOperand(), offset, size);
    if (auto* argument = llvm::dyn_cast<llvm::Argument>(&value))
      return isKernels(*argument) && !structIn(*argument) && found({argument->getArgNo(), offset});
    if (auto* choice = llvm::dyn_cast<llvm::PHINode>(&value))
      return llvm::all_of(choice->incoming_values(),
                          [&](llvm::Use& one) { return inValue(*one.get(), offset, size); });
    if (auto* choice = llvm::dyn_cast<llvm::SelectInst>(&value))
      return inValue(*choice->getTrueValue(), offset, size) &&
             inValue(*choice->getFalseValue(), offset, size);
    if (auto* element = llvm::dyn_cast<llvm::ExtractValueInst>(&value))
      return inValue(
          *element->getAggregateOperand(),
          offset + static_cast<int64_t>(elementOffset(element->getAggregateOperand()->getType(),
                                                      element->getIndices(), layout_)),
          size);
    if (auto* insert = llvm::dyn_cast<llvm::InsertValueInst>(&value))
      return inInserted(*insert, offset, size);
    if (llvm::isa<llvm::FreezeInst, llvm::BitCastInst, llvm::AddrSpaceCastInst, llvm::PtrToIntInst,
                  llvm::IntToPtrInst>(value)) {
      llvm::Value& from = *llvm::cast<llvm::Instruction>(value).getOperand(0);
      return layout_.getTypeStoreSize(from.getType()) ==
                 layout_.getTypeStoreSize(value.getType()) &&
             inValue(from, offset, size);
    }
    return false;
  }

  bool inInserted(llvm::InsertValueInst& insert, int64_t offset, uint64_t size) {
    const auto begin =
        static_cast<int64_t>(elementOffset(insert.getType(), insert.getIndices(), layout_));
    llvm::Value& value = *insert.getInsertedValueOperand();
    const auto end =
        begin + static_cast<int64_t>(layout_.getTypeStoreSize(value.getType()).getFixedValue());
    const auto last = offset + static_cast<int64_t>(size);
    if (begin <= offset && last <= end)
      return inValue(value, offset - begin, size);
    return (last <= begin || end <= offset) && inValue(*insert.getAggregateOperand(), offset, size);
  }

  /// Whether an argument is the address of its bytes.
  static bool structIn(const llvm::Argument& argument) {
    return argument.getType()->isPointerTy() && structByValue(argument);
  }

  ClosureContent& content_;
  const llvm::DataLayout& layout_;
  std::optional<ArgumentBytes> result_;
  llvm::DenseSet<std::pair<llvm::Value*, int64_t>> seen_;
};

bool isConstMember(const llvm::Function& function) {
  // What follows the name of a template may be beyond LLVM; it has no influence on this.
  const llvm::StringRef name = function.getName();
  for (size_t at = name.find("clI"); at != llvm::StringRef::npos; at = name.find("clI", at + 1)) {
    llvm::ItaniumPartialDemangler plain;
    if (!plain.partialDemangle((name.take_front(at) + "clEv").str().c_str()))
      return plain.hasFunctionQualifiers();
  }
  llvm::ItaniumPartialDemangler demangler;
  return !demangler.partialDemangle(name.str().c_str()) && demangler.hasFunctionQualifiers();
}

bool mayChange(llvm::Function& callOperator, uint64_t offset, uint64_t sizeBytes) {
  llvm::Argument* closure = closureArgument(callOperator);
  if (isConstMember(callOperator) || !closure)
    return false;
  const MemoryWrites found(*closure, static_cast<int64_t>(offset), sizeBytes, nullptr);
  return found.isUnknown || !found.writes.empty() || !found.obstacles.empty();
}

std::optional<ArgumentBytes> ClosureContent::source(llvm::Value& address, int64_t offset,
                                                    uint64_t sizeBytes) {
  ContentWalk walk(*this);
  return walk.inMemory(address, offset, sizeBytes) ? walk.result() : std::nullopt;
}

} // namespace mneme::ir
