#include "runtime/compiler/module/constant_content.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <cstring>
#include <string>

#include "runtime/compiler/ir/compat.h"
#include "runtime/core/base/error.h"

namespace mneme::compile {
namespace {

constexpr unsigned kConstantSpace = 4; // of AMD GPUs

llvm::APInt bitsOf(llvm::ArrayRef<char> bytes, unsigned width) {
  llvm::SmallVector<uint64_t, 2> words((bytes.size() + 7) / 8, 0);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return llvm::APInt(static_cast<unsigned>(words.size() * 64), words).zextOrTrunc(width);
}

llvm::Type* elementType(int32_t content, llvm::LLVMContext& context) {
  switch (content) {
  case MNEME_CONSTANT_INT16:
    return llvm::Type::getInt16Ty(context);
  case MNEME_CONSTANT_INT32:
    return llvm::Type::getInt32Ty(context);
  case MNEME_CONSTANT_INT64:
    return llvm::Type::getInt64Ty(context);
  case MNEME_CONSTANT_HALF:
    return llvm::Type::getHalfTy(context);
  case MNEME_CONSTANT_FLOAT:
    return llvm::Type::getFloatTy(context);
  case MNEME_CONSTANT_DOUBLE:
    return llvm::Type::getDoubleTy(context);
  case MNEME_CONSTANT_LONG_DOUBLE:
    return llvm::Type::getX86_FP80Ty(context);
  case MNEME_CONSTANT_POINTER:
    return llvm::PointerType::getUnqual(context);
  default: // bytes, and objects
    return llvm::Type::getInt8Ty(context);
  }
}

llvm::SmallVector<llvm::Constant*> partsFrom(llvm::Type* element, uint64_t count,
                                             llvm::ArrayRef<char> bytes,
                                             const llvm::DataLayout& layout) {
  llvm::SmallVector<llvm::Constant*> parts;
  const uint64_t stride = layout.getTypeAllocSize(element).getFixedValue();
  const uint64_t size = layout.getTypeStoreSize(element).getFixedValue();
  for (uint64_t index = 0; index < count; ++index)
    parts.push_back(constantFrom(element, bytes.slice(index * stride, size), layout));
  return parts;
}

llvm::Constant* arrayFrom(llvm::ArrayType* type, llvm::ArrayRef<char> bytes,
                          const llvm::DataLayout& layout) {
  llvm::Type* element = type->getElementType();
  if (llvm::ConstantDataArray::isElementTypeCompatible(element))
    return llvm::ConstantDataArray::getRaw(llvm::StringRef(bytes.data(), bytes.size()),
                                           type->getNumElements(), element);
  return llvm::ConstantArray::get(type, partsFrom(element, type->getNumElements(), bytes, layout));
}

llvm::Constant* structFrom(llvm::StructType* type, llvm::ArrayRef<char> bytes,
                           const llvm::DataLayout& layout) {
  const llvm::StructLayout* places = layout.getStructLayout(type);
  llvm::SmallVector<llvm::Constant*> parts;
  for (unsigned index = 0; index < type->getNumElements(); ++index) {
    llvm::Type* part = type->getElementType(index);
    parts.push_back(constantFrom(
        part,
        bytes.slice(places->getElementOffset(index), layout.getTypeStoreSize(part).getFixedValue()),
        layout));
  }
  return llvm::ConstantStruct::get(type, parts);
}

llvm::GlobalVariable* contentOf(llvm::Module& module, const mneme_arg_value& given,
                                const std::string& what) {
  const llvm::DataLayout& layout = module.getDataLayout();
  const llvm::ArrayRef<char> bytes(static_cast<const char*>(given.value.data), given.value.size);
  llvm::Type* element = elementType(given.content, module.getContext());
  const uint64_t stride = layout.getTypeAllocSize(element).getFixedValue();
  if (bytes.empty() || bytes.size() % stride != 0)
    throw Error(ErrorCode::InvalidArgument,
                what + " cannot have a content of " + std::to_string(bytes.size()) + " bytes");
  llvm::ArrayType* type = llvm::ArrayType::get(element, bytes.size() / stride);
  const unsigned space = compat::moduleTriple(module).isAMDGCN() ? kConstantSpace : 0;
  return new llvm::GlobalVariable(module, type, true, llvm::GlobalValue::PrivateLinkage,
                                  constantFrom(type, bytes, layout), "", nullptr,
                                  llvm::GlobalValue::NotThreadLocal, space);
}

/// The callee may write to its copy.
llvm::Value* copyOf(llvm::GlobalVariable& content, llvm::Argument& argument) {
  llvm::Function& function = *argument.getParent();
  llvm::IRBuilder<> builder(&*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  llvm::AllocaInst* copy =
      builder.CreateAlloca(content.getValueType(), layout.getAllocaAddrSpace());
  copy->setAlignment(llvm::Align(kContentAlign));
  builder.CreateMemCpy(copy, llvm::Align(kContentAlign), &content, llvm::Align(kContentAlign),
                       layout.getTypeAllocSize(content.getValueType()).getFixedValue());
  return builder.CreatePointerBitCastOrAddrSpaceCast(copy, argument.getType());
}

} // namespace

llvm::Constant* constantFrom(llvm::Type* type, llvm::ArrayRef<char> bytes,
                             const llvm::DataLayout& layout) {
  if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type))
    return arrayFrom(array, bytes, layout);
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(type))
    return structFrom(structure, bytes, layout);
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
    return llvm::ConstantVector::get(
        partsFrom(vector->getElementType(), vector->getNumElements(), bytes, layout));
  const auto width =
      static_cast<unsigned>(type->isPointerTy() ? layout.getPointerTypeSizeInBits(type)
                                                : layout.getTypeSizeInBits(type).getFixedValue());
  const llvm::APInt bits = bitsOf(bytes, width);
  if (type->isFloatingPointTy())
    return llvm::ConstantFP::get(type->getContext(), llvm::APFloat(type->getFltSemantics(), bits));
  auto* integer = llvm::ConstantInt::get(type->getContext(), bits);
  return type->isPointerTy() ? llvm::ConstantExpr::getIntToPtr(integer, type) : integer;
}

llvm::Constant* specializeContent(llvm::Argument& argument, const mneme_arg_value& given) {
  llvm::Module& module = *argument.getParent()->getParent();
  const llvm::DataLayout& layout = module.getDataLayout();
  const std::string what = "argument " + std::to_string(argument.getArgNo()) + " of '" +
                           argument.getParent()->getName().str() + "'";
  if (!argument.getType()->isPointerTy()) { // a struct that the ABI keeps whole
    const uint64_t size = layout.getTypeStoreSize(argument.getType()).getFixedValue();
    if (given.value.size < size)
      throw Error(ErrorCode::InvalidArgument, what + " has " + std::to_string(size) +
                                                  " bytes, but a content of " +
                                                  std::to_string(given.value.size) + " was given");
    llvm::Constant* value = constantFrom(
        argument.getType(), {static_cast<const char*>(given.value.data), size}, layout);
    argument.replaceAllUsesWith(value);
    return value;
  }
  llvm::GlobalVariable* content = contentOf(module, given, what);
  if (argument.hasByValAttr())
    argument.replaceAllUsesWith(copyOf(*content, argument));
  else
    argument.replaceAllUsesWith(
        llvm::ConstantExpr::getPointerBitCastOrAddrSpaceCast(content, argument.getType()));
  return content;
}

} // namespace mneme::compile
