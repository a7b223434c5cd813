// proteus::jit_arg and its like: calls at the beginning of a function.
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

#include "passes/mark_list.h"

namespace mneme::passes {
namespace {

constexpr llvm::StringLiteral kArgCall = "_ZN7proteus7jit_arg";
constexpr llvm::StringLiteral kArrayCall = "_ZN7proteus9jit_array";
constexpr llvm::StringLiteral kObjectCall = "_ZN7proteus10jit_object";

const llvm::Value* withoutCasts(const llvm::Value* value) {
  while (true) {
    if (const auto* cast = llvm::dyn_cast<llvm::CastInst>(value))
      value = cast->getOperand(0);
    else if (const auto* freeze = llvm::dyn_cast<llvm::FreezeInst>(value))
      value = freeze->getOperand(0);
    else
      return value->stripPointerCasts();
  }
}

/// The stack slot that `pointer` is at the beginning of.
const llvm::AllocaInst* slotOf(const llvm::Value* pointer) {
  return llvm::dyn_cast<llvm::AllocaInst>(withoutCasts(pointer)->stripInBoundsConstantOffsets());
}

/// Arguments that are stored somewhere in a slot, or in one that is copied to it.
void addStored(const llvm::Value& slot, llvm::SmallVectorImpl<llvm::Argument*>& arguments,
               unsigned depth = 0) {
  for (const llvm::User* user : slot.users()) {
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) {
      if (store->getPointerOperand() != &slot)
        continue;
      const llvm::Value* value = withoutCasts(store->getValueOperand());
      if (auto* argument = llvm::dyn_cast<llvm::Argument>(const_cast<llvm::Value*>(value)))
        arguments.push_back(argument);
      // AMD's ABI gives pointers an address space: they change it in a slot of their own.
      else if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(value);
               load && load->getType()->isPointerTy() && depth < 2)
        if (const llvm::AllocaInst* source = slotOf(load->getPointerOperand()))
          addStored(*source, arguments, depth + 1);
    } else if (const auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(user)) {
      if (const llvm::AllocaInst* source = slotOf(copy->getSource());
          source && source != slotOf(&slot) && depth < 2)
        addStored(*source, arguments, depth + 1);
      else if (auto* argument = llvm::dyn_cast<llvm::Argument>(
                   const_cast<llvm::Value*>(withoutCasts(copy->getSource()))))
        arguments.push_back(argument);
    } else if (llvm::isa<llvm::GEPOperator>(user) || llvm::isa<llvm::CastInst>(user)) {
      addStored(*user, arguments, depth);
    }
  }
}

/// The parameter whose value `value` is, as clang writes it before any optimisation: loaded from
/// the slot the parameter is stored in.
llvm::Argument* parameterOf(const llvm::Value* value) {
  value = withoutCasts(value);
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(value))
    if (const llvm::AllocaInst* slot = slotOf(load->getPointerOperand())) {
      llvm::SmallVector<llvm::Argument*, 2> arguments;
      addStored(*slot, arguments);
      return arguments.size() == 1 ? arguments.front() : nullptr;
    }
  return llvm::dyn_cast<llvm::Argument>(const_cast<llvm::Value*>(value));
}

/// Whether every call of the function reaches this block before it branches. A sanitizer's checks
/// do not count as branches of the function, although they make blocks.
bool isAtBegin(const llvm::BasicBlock& block) {
  llvm::SmallPtrSet<const llvm::BasicBlock*, 8> seen;
  const llvm::BasicBlock* current = &block.getParent()->getEntryBlock();
  while (current != &block) {
    const llvm::Instruction* end = current->getTerminator();
    if (!seen.insert(current).second || !end->hasMetadata(llvm::LLVMContext::MD_nosanitize) ||
        end->getNumSuccessors() == 0)
      return false;
    current = end->getSuccessor(0); // where the check succeeds
  }
  return true;
}

/// Reads one call of a mark function.
class CallMark {
public:
  CallMark(const llvm::CallBase& call, MarkList& marks) : call_(call), marks_(marks) {}

  void read() {
    if (!isAtBegin(*call_.getParent()))
      return marks_.fatal("Expected instrumentation annotation to be in the entry basic block");
    llvm::StringRef name = call_.getCalledFunction()->getName();
    if (name.starts_with(kObjectCall))
      return readObject();
    llvm::Argument* argument = parameterOf(call_.getArgOperand(0));
    if (!argument)
      return refuse();
    if (name.starts_with(kArrayCall))
      readArray(*argument);
    else
      marks_.addScalar(*argument);
  }

private:
  /// How the ABI passes an element says what it is, unless it is a struct.
  int32_t elementTypeOf(llvm::Type* passed, uint64_t sizeBytes) const {
    const llvm::DataLayout& layout = marks_.function().getParent()->getDataLayout();
    const int32_t type = constantTypeOf(passed);
    return isScalar(type) && call_.arg_size() == 4 &&
                   layout.getTypeAllocSize(passed).getFixedValue() == sizeBytes
               ? type
               : MNEME_CONSTANT_OBJECT;
  }

  /// What is passed in place of an element; a struct around one number counts as that number, as
  /// ABIs of processors have it, and as vendors' half is one.
  llvm::Type* passedElement() const {
    llvm::Type* passed = call_.getArgOperand(2)->getType();
    if (llvm::Type* inMemory = call_.getParamByValType(2))
      passed = inMemory;
    while (auto* structure = llvm::dyn_cast<llvm::StructType>(passed)) {
      if (structure->getNumElements() != 1)
        break;
      passed = structure->getElementType(0);
    }
    return passed;
  }

  void refuse() {
    marks_.fatal("Expected non-null argument. The operand of " +
                 call_.getCalledFunction()->getName() + " is not a parameter of " +
                 marks_.function().getName());
  }

  /// jit_array(pointer, count, element, size of an element)
  void readArray(const llvm::Argument& argument) {
    const auto* elementBytes =
        llvm::dyn_cast<llvm::ConstantInt>(call_.getArgOperand(call_.arg_size() - 1));
    if (call_.arg_size() < 3 || !elementBytes)
      return refuse();
    mneme_jit_mark mark = valueMark(argument, MNEME_CONSTANT_ARRAY);
    mark.flags = 0;
    mark.sizeBytes = elementBytes->getZExtValue();
    mark.elementType = elementTypeOf(call_.getArgOperand(2)->getType(), mark.sizeBytes);
    if (llvm::Type* element = passedElement(); constantTypeOf(element) == MNEME_CONSTANT_INT16 ||
                                               constantTypeOf(element) == MNEME_CONSTANT_HALF)
      return marks_.fatal("Unknown Type " + textOf(element));
    const llvm::Value* count = call_.getArgOperand(1);
    if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(count)) {
      if (constant->getSExtValue() <= 0)
        return marks_.fatal("Invalid number of elements in array: " +
                            llvm::Twine(constant->getSExtValue()));
      mark.count = constant->getZExtValue();
    } else if (const llvm::Argument* parameter = parameterOf(count);
               parameter && parameter->getType()->isIntegerTy()) {
      countBy(mark, *parameter);
      if (llvm::isa<llvm::ZExtInst>(count)) // not every ABI says it of the parameter
        mark.flags |= MNEME_JIT_MARK_UNSIGNED_COUNT;
    } else {
      return refuse();
    }
    marks_.add(mark);
  }

  /// jit_object(pointer or reference, size)
  void readObject() {
    const auto* size = llvm::dyn_cast<llvm::ConstantInt>(call_.getArgOperand(1));
    if (!size)
      return marks_.fatal("Expected a constant size of the object");
    const llvm::Value* pointer = withoutCasts(call_.getArgOperand(0));
    if (const auto* argument = llvm::dyn_cast<llvm::Argument>(pointer))
      return marks_.addObject(*argument, size->getZExtValue(),
                              argument->hasPointeeInMemoryValueAttr());
    if (llvm::isa<llvm::LoadInst>(pointer)) {
      const llvm::Argument* argument = parameterOf(pointer);
      if (!argument)
        return refuse();
      return marks_.addObject(*argument, size->getZExtValue(),
                              argument->hasPointeeInMemoryValueAttr());
    }
    if (const llvm::AllocaInst* slot = slotOf(pointer))
      return readPassedInRegisters(*slot, size->getZExtValue());
    refuse();
  }

  /// A struct by value that the ABI takes apart: each piece is a value.
  void readPassedInRegisters(const llvm::AllocaInst& slot, uint64_t sizeBytes) {
    llvm::SmallVector<llvm::Argument*, 2> pieces;
    addStored(slot, pieces);
    if (pieces.empty())
      return refuse();
    for (const llvm::Argument* piece : pieces)
      if (piece->hasPointeeInMemoryValueAttr() || piece->getType()->isAggregateType())
        marks_.addObject(*piece, sizeBytes, true);
      else // numbers that jit_arg() refuses may well be pieces
        marks_.add(valueMark(*piece, constantTypeOf(piece->getType())));
  }

  const llvm::CallBase& call_;
  MarkList& marks_;
};

} // namespace

bool isMarkFunction(const llvm::Function& function) {
  llvm::StringRef name = function.getName();
  return name.starts_with(kArgCall) || name.starts_with(kArrayCall) ||
         name.starts_with(kObjectCall);
}

bool readMarkCalls(MarkList& marks) {
  bool isMarked = false;
  for (llvm::Instruction& instruction : llvm::instructions(marks.function())) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
    if (!callee || !isMarkFunction(*callee))
      continue;
    isMarked = true;
    CallMark(*call, marks).read();
  }
  return isMarked;
}

} // namespace mneme::passes
