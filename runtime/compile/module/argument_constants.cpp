#include "runtime/compile/module/argument_constants.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <cstring>
#include <string>

#include "runtime/abi/jit_mark.h"
#include "runtime/base/error.h"

namespace mneme::compile {
namespace {

// What vector instructions may be made to rely on.
constexpr uint64_t kAlignment = 16;

llvm::APInt bitsOf(mneme_bytes value, unsigned width) {
  llvm::SmallVector<uint64_t, 2> words((value.size + 7) / 8, 0);
  memcpy(words.data(), value.data, value.size);
  return llvm::APInt(static_cast<unsigned>(words.size() * 64), words).zextOrTrunc(width);
}

mneme_bytes part(mneme_bytes value, uint64_t offset, uint64_t size) {
  if (offset + size > value.size)
    throw Error(ErrorCode::InvalidArgument,
                "a value of " + std::to_string(value.size) + " bytes does not fill its type");
  return {static_cast<const char*>(value.data) + offset, size};
}

/// Of elements that an annotation names by number. Null: bytes.
llvm::Type* elementType(int32_t content, llvm::LLVMContext& context) {
  switch (content) {
  case MNEME_CONSTANT_INT16:
    return llvm::Type::getInt16Ty(context);
  case MNEME_CONSTANT_INT32:
    return llvm::Type::getInt32Ty(context);
  case MNEME_CONSTANT_INT64:
    return llvm::Type::getInt64Ty(context);
  case MNEME_CONSTANT_FLOAT:
    return llvm::Type::getFloatTy(context);
  case MNEME_CONSTANT_DOUBLE:
    return llvm::Type::getDoubleTy(context);
  default:
    return llvm::Type::getInt8Ty(context);
  }
}

/// A constant variable with the content of a pointer.
llvm::GlobalVariable* contentVariable(llvm::Argument& argument, const mneme_arg_value& given,
                                      llvm::raw_ostream* trace) {
  llvm::Module& module = *argument.getParent()->getParent();
  llvm::Type* element = elementType(given.content, module.getContext());
  const uint64_t elementBytes = module.getDataLayout().getTypeAllocSize(element).getFixedValue();
  if (given.value.size == 0 || given.value.size % elementBytes != 0)
    throw Error(ErrorCode::InvalidArgument,
                "the content of an array has " + std::to_string(given.value.size) + " bytes");
  llvm::Constant* content = llvm::ConstantDataArray::getRaw(
      llvm::StringRef(static_cast<const char*>(given.value.data), given.value.size),
      given.value.size / elementBytes, element);
  auto* variable = new llvm::GlobalVariable(module, content->getType(), true,
                                            llvm::GlobalValue::PrivateLinkage, content);
  if (trace)
    *trace << *variable;
  variable->setAlignment(std::max(llvm::Align(kAlignment), argument.getParamAlign().valueOrOne()));
  return variable;
}

/// A struct that is passed by value is the function's own, to be written to.
llvm::Value* ownCopy(llvm::Argument& argument, llvm::GlobalVariable& content) {
  llvm::IRBuilder<> builder(&*argument.getParent()->getEntryBlock().getFirstInsertionPt());
  llvm::AllocaInst* copy = builder.CreateAlloca(content.getValueType());
  copy->setAlignment(*content.getAlign());
  builder.CreateMemCpy(copy, content.getAlign(), &content, content.getAlign(),
                       builder.getInt64(argument.getParent()
                                            ->getParent()
                                            ->getDataLayout()
                                            .getTypeAllocSize(content.getValueType())
                                            .getFixedValue()));
  return copy;
}

llvm::Value* valueFor(llvm::Argument& argument, const mneme_arg_value& given,
                      llvm::raw_ostream* trace) {
  if (argument.getType()->isPointerTy() && given.content != MNEME_CONSTANT_NONE) {
    llvm::GlobalVariable* content = contentVariable(argument, given, trace);
    return argument.hasPassPointeeByValueCopyAttr() ? ownCopy(argument, *content) : content;
  }
  llvm::Constant* value = constantOfBytes(argument.getType(), given.value,
                                          argument.getParent()->getParent()->getDataLayout());
  if (trace)
    *trace << *value;
  return value;
}

} // namespace

llvm::Constant* constantOfBytes(llvm::Type* type, mneme_bytes value,
                                const llvm::DataLayout& layout) {
  const uint64_t size = layout.getTypeStoreSize(type).getFixedValue();
  if (value.size != size || !value.data)
    throw Error(ErrorCode::InvalidArgument, "a value of " + std::to_string(value.size) +
                                                " bytes was given where " + std::to_string(size) +
                                                " are needed");
  llvm::LLVMContext& context = type->getContext();
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
    llvm::SmallVector<llvm::Constant*> fields;
    for (unsigned index = 0; index < structure->getNumElements(); ++index) {
      llvm::Type* field = structure->getElementType(index);
      fields.push_back(constantOfBytes(
          field,
          part(value, layout.getStructLayout(structure)->getElementOffset(index).getFixedValue(),
               layout.getTypeStoreSize(field).getFixedValue()),
          layout));
    }
    return llvm::ConstantStruct::get(structure, fields);
  }
  if (type->isArrayTy() || llvm::isa<llvm::FixedVectorType>(type)) {
    llvm::Type* element = type->isArrayTy() ? type->getArrayElementType() : type->getScalarType();
    const uint64_t count = type->isArrayTy()
                               ? type->getArrayNumElements()
                               : llvm::cast<llvm::FixedVectorType>(type)->getNumElements();
    llvm::SmallVector<llvm::Constant*> elements;
    for (uint64_t index = 0; index < count; ++index)
      elements.push_back(
          constantOfBytes(element,
                          part(value, index * layout.getTypeAllocSize(element).getFixedValue(),
                               layout.getTypeStoreSize(element).getFixedValue()),
                          layout));
    if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type))
      return llvm::ConstantArray::get(array, elements);
    return llvm::ConstantVector::get(elements);
  }
  if (!type->isIntegerTy() && !type->isFloatingPointTy() && !type->isPointerTy())
    throw Error(ErrorCode::InvalidArgument, "a value has a type that cannot be a constant");
  const auto width =
      static_cast<unsigned>(type->isPointerTy() ? layout.getPointerTypeSizeInBits(type)
                                                : layout.getTypeSizeInBits(type).getFixedValue());
  const llvm::APInt bits = bitsOf(value, width);
  if (type->isFloatingPointTy())
    return llvm::ConstantFP::get(context, llvm::APFloat(type->getFltSemantics(), bits));
  auto* integer = llvm::ConstantInt::get(context, bits);
  return type->isPointerTy() ? llvm::ConstantExpr::getIntToPtr(integer, type) : integer;
}

void makeConstant(llvm::Function& function, const mneme_arg_value* values, size_t count,
                  llvm::raw_ostream* trace) {
  // Those that are copied are copied behind one another.
  const std::string name = function.getName().str();
  for (size_t position = 0; position < count; ++position) {
    const mneme_arg_value& given = values[position];
    if (given.index >= function.arg_size())
      throw Error(ErrorCode::InvalidArgument,
                  "function '" + name + "' has no argument " + std::to_string(given.index));
    if (trace)
      *trace << "[ArgSpec] Replaced Function " << name << " ArgNo " << given.index
             << " with value ";
    llvm::Argument* argument = function.getArg(given.index);
    llvm::Value* value = valueFor(*argument, given, trace);
    argument->replaceAllUsesWith(value);
    if (trace)
      *trace << "\n";
  }
}

} // namespace mneme::compile
