#include "runtime/compile/module/specialize.h"

#include <llvm/IR/ConstantRange.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <cstring>
#include <string>

#include "runtime/base/error.h"
#include "runtime/ir/compat.h"

namespace mneme::compile {
namespace {

llvm::APInt bitsOf(mneme_bytes value, unsigned width) {
  const unsigned words = static_cast<unsigned>((value.size + 7) / 8);
  llvm::SmallVector<uint64_t, 2> storage(words, 0);
  memcpy(storage.data(), value.data, value.size);
  return llvm::APInt(words * 64, storage).trunc(width);
}

llvm::Constant* constantOf(const llvm::Argument& argument, mneme_bytes value) {
  llvm::Type* type = argument.getType();
  const llvm::DataLayout& layout = argument.getParent()->getParent()->getDataLayout();
  const std::string what = "argument " + std::to_string(argument.getArgNo()) + " of kernel '" +
                           argument.getParent()->getName().str() + "'";
  if (argument.hasPointeeInMemoryValueAttr() ||
      !(type->isIntegerTy() || type->isFloatingPointTy() || type->isPointerTy()))
    throw Error(ErrorCode::InvalidArgument,
                what + " cannot be specialised: only integers, floating point numbers and "
                       "pointers can");
  const uint64_t size = layout.getTypeStoreSize(type).getFixedValue();
  if (value.size != size || !value.data)
    throw Error(ErrorCode::InvalidArgument, what + " has " + std::to_string(size) +
                                                " bytes, but a value of " +
                                                std::to_string(value.size) + " was given");
  const auto width =
      static_cast<unsigned>(type->isPointerTy() ? layout.getPointerTypeSizeInBits(type)
                                                : layout.getTypeSizeInBits(type).getFixedValue());
  const llvm::APInt bits = bitsOf(value, width);
  if (type->isFloatingPointTy())
    return llvm::ConstantFP::get(type->getContext(), llvm::APFloat(type->getFltSemantics(), bits));
  auto* integer = llvm::ConstantInt::get(type->getContext(), bits);
  return type->isPointerTy() ? llvm::ConstantExpr::getIntToPtr(integer, type) : integer;
}

void replaceReads(llvm::Module& module, const std::string& intrinsic, uint32_t value) {
  llvm::Function* function = module.getFunction(intrinsic);
  if (!function)
    return;
  for (llvm::User* user : llvm::make_early_inc_range(function->users())) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(user);
    if (!call || call->getCalledFunction() != function)
      continue;
    call->replaceAllUsesWith(llvm::ConstantInt::get(call->getType(), value));
    call->eraseFromParent();
  }
}

void boundReads(llvm::Module& module, const std::string& intrinsic, uint32_t bound) {
  llvm::Function* function = module.getFunction(intrinsic);
  if (!function || bound == 0)
    return;
  const llvm::ConstantRange range(llvm::APInt(32, 0), llvm::APInt(32, bound));
  for (llvm::User* user : function->users()) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(user);
    if (call && call->getCalledFunction() == function && call->getType()->isIntegerTy(32))
      call->addRetAttr(llvm::Attribute::get(call->getContext(), llvm::Attribute::Range, range));
  }
}

void dropAnnotations(llvm::Function& kernel) {
  llvm::NamedMDNode* annotations = kernel.getParent()->getNamedMetadata("nvvm.annotations");
  if (!annotations)
    return;
  std::vector<llvm::MDNode*> kept;
  for (llvm::MDNode* node : annotations->operands()) {
    const bool isPair = node->getNumOperands() == 3;
    const auto* name =
        isPair ? llvm::dyn_cast_or_null<llvm::MDString>(node->getOperand(1).get()) : nullptr;
    const auto* value =
        isPair ? llvm::dyn_cast_or_null<llvm::ValueAsMetadata>(node->getOperand(0).get()) : nullptr;
    const bool isBound =
        name && value && value->getValue() == &kernel &&
        (name->getString().starts_with("maxntid") || name->getString() == "minctasm");
    if (!isBound)
      kept.push_back(node);
  }
  annotations->clearOperands();
  for (llvm::MDNode* node : kept)
    annotations->addOperand(node);
}

/// AMDGCN kernels read their dimensions from memory whose meaning only the lowering knows.
void noteDimensions(llvm::Module& module, const uint32_t grid[3], const uint32_t block[3]) {
  llvm::NamedMDNode* note = module.getOrInsertNamedMetadata("mneme.dimensions");
  note->clearOperands();
  llvm::IntegerType* type = llvm::Type::getInt32Ty(module.getContext());
  for (const uint32_t* numbers : {block, grid})
    for (unsigned axis = 0; axis < 3; ++axis)
      note->addOperand(llvm::MDNode::get(
          module.getContext(),
          llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(type, numbers[axis]))));
}

} // namespace

void specializeArguments(llvm::Function& kernel, const mneme_arg_value* values, size_t count) {
  for (size_t position = 0; position < count; ++position) {
    const mneme_arg_value& given = values[position];
    if (given.index >= kernel.arg_size())
      throw Error(ErrorCode::InvalidArgument, "kernel '" + kernel.getName().str() + "' has " +
                                                  std::to_string(kernel.arg_size()) +
                                                  " arguments; there is no argument " +
                                                  std::to_string(given.index) + " to specialise");
    llvm::Argument* argument = kernel.getArg(given.index);
    argument->replaceAllUsesWith(constantOf(*argument, given.value));
  }
}

void setLaunchBounds(llvm::Function& kernel, uint32_t maxThreads, uint32_t minBlocks) {
  kernel.removeFnAttr("nvvm.maxntid");
  kernel.removeFnAttr("nvvm.minctasm");
  dropAnnotations(kernel);
  if (maxThreads != 0)
    compat::setMaxThreads(kernel, maxThreads);
  if (minBlocks != 0)
    compat::setMinBlocks(kernel, minBlocks);
}

void specializeDimensions(llvm::Module& module, const uint32_t grid[3], const uint32_t block[3]) {
  if (compat::moduleTriple(module).isAMDGCN()) {
    noteDimensions(module, grid, block);
    return;
  }
  const std::string prefix = "llvm.nvvm.read.ptx.sreg.";
  const char* const axes[] = {".x", ".y", ".z"};
  for (unsigned axis = 0; axis < 3; ++axis) {
    replaceReads(module, prefix + "ntid" + axes[axis], block[axis]);
    replaceReads(module, prefix + "nctaid" + axes[axis], grid[axis]);
    boundReads(module, prefix + "tid" + axes[axis], block[axis]);
    boundReads(module, prefix + "ctaid" + axes[axis], grid[axis]);
  }
}

} // namespace mneme::compile
