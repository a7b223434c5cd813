// Finds the closure that a call operator is called with among the arguments of a kernel
// (lambdas.h).
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

#include "passes/lambdas.h"

namespace mneme::passes {
namespace {

/// The type that a call operator reads fields of behind its closure's address, which is stored and
/// loaded again first.
llvm::StructType* closureStructOf(const llvm::Argument& closure) {
  for (const llvm::User* user : closure.users()) {
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
    if (!store || store->getValueOperand() != &closure)
      continue;
    for (const llvm::User* reader : store->getPointerOperand()->users())
      if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(reader))
        for (const llvm::User* field : load->users())
          if (const auto* address = llvm::dyn_cast<llvm::GEPOperator>(field))
            if (auto* type = llvm::dyn_cast<llvm::StructType>(address->getSourceElementType()))
              return type;
  }
  return nullptr;
}

/// The type of a kernel's argument as the program wrote it; null if it is not an object.
llvm::Type* objectTypeOf(const llvm::Argument& argument) {
  if (llvm::Type* type = argument.getPointeeInMemoryValueType())
    return type;
  if (argument.getType()->isStructTy())
    return argument.getType();
  // An object of one field is passed as that, and stored to the object first.
  for (const llvm::User* user : argument.users())
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
        store && store->getValueOperand() == &argument)
      if (const auto* object =
              llvm::dyn_cast<llvm::AllocaInst>(store->getPointerOperand()->stripInBoundsOffsets()))
        return object->getAllocatedType()->isStructTy() ? object->getAllocatedType() : nullptr;
  return nullptr;
}

void findIn(llvm::Type* type, uint64_t offset, const llvm::StructType* wanted,
            const llvm::DataLayout& layout, llvm::SmallVectorImpl<uint64_t>& offsets) {
  auto* object = llvm::dyn_cast<llvm::StructType>(type);
  if (object == wanted)
    return offsets.push_back(offset);
  if (!object || object->isOpaque())
    return;
  const llvm::StructLayout* fields = layout.getStructLayout(object);
  for (unsigned index = 0; index < object->getNumElements(); ++index)
    findIn(object->getElementType(index), offset + fields->getElementOffset(index), wanted, layout,
           offsets);
}

} // namespace

const llvm::Argument* closureArgumentOf(const llvm::Function& callOperator) {
  for (const llvm::Argument& argument : callOperator.args())
    if (!argument.hasStructRetAttr())
      return argument.getType()->isPointerTy() ? &argument : nullptr;
  return nullptr;
}

std::vector<ClosurePlace> closurePlaces(const llvm::Function& kernel,
                                        const llvm::Function& callOperator) {
  const llvm::Argument* closure = closureArgumentOf(callOperator);
  llvm::StructType* type = closure ? closureStructOf(*closure) : nullptr;
  if (!type || type->isOpaque())
    return {};
  const llvm::DataLayout& layout = kernel.getParent()->getDataLayout();
  std::vector<ClosurePlace> places;
  for (const llvm::Argument& argument : kernel.args()) {
    llvm::Type* object = objectTypeOf(argument);
    llvm::SmallVector<uint64_t, 2> offsets;
    if (object && object->isSized())
      findIn(object, 0, type, layout, offsets);
    llvm::Type* const pointee = argument.getPointeeInMemoryValueType();
    const uint64_t bytes = layout.getTypeAllocSize(pointee ? pointee : argument.getType());
    const uint64_t closureBytes = layout.getTypeStoreSize(type);
    for (const uint64_t offset : offsets)
      if (offset + closureBytes <= bytes)
        places.push_back({argument.getArgNo(), offset, closureBytes});
  }
  return places;
}

} // namespace mneme::passes
