#include "passes/mark_list.h"

#include <llvm/Support/raw_ostream.h>

#include "passes/warning.h"

namespace mneme::passes {

std::string textOf(llvm::Type* type) {
  std::string text;
  llvm::raw_string_ostream(text) << *type;
  return text;
}

int32_t constantTypeOf(llvm::Type* type) {
  if (type->isIntegerTy())
    switch (type->getIntegerBitWidth()) {
    case 1:
      return MNEME_CONSTANT_BOOL;
    case 8:
      return MNEME_CONSTANT_INT8;
    case 16:
      return MNEME_CONSTANT_INT16;
    case 32:
      return MNEME_CONSTANT_INT32;
    case 64:
      return MNEME_CONSTANT_INT64;
    default:
      return MNEME_CONSTANT_NONE;
    }
  if (type->isHalfTy() || type->isBFloatTy())
    return MNEME_CONSTANT_HALF;
  if (type->isFloatTy())
    return MNEME_CONSTANT_FLOAT;
  if (type->isDoubleTy())
    return MNEME_CONSTANT_DOUBLE;
  if (type->isX86_FP80Ty() || type->isFP128Ty() || type->isPPC_FP128Ty())
    return MNEME_CONSTANT_LONG_DOUBLE;
  if (type->isPointerTy())
    return MNEME_CONSTANT_POINTER;
  if (type->isVectorTy())
    return MNEME_CONSTANT_VECTOR;
  return MNEME_CONSTANT_NONE;
}

bool isScalar(int64_t type) {
  return (type >= MNEME_CONSTANT_BOOL && type <= MNEME_CONSTANT_POINTER) ||
         type == MNEME_CONSTANT_INT16 || type == MNEME_CONSTANT_HALF;
}

mneme_jit_mark valueMark(const llvm::Argument& argument, int32_t type) {
  const llvm::DataLayout& layout = argument.getParent()->getParent()->getDataLayout();
  return {.argument = argument.getArgNo(),
          .type = type,
          .elementType = MNEME_CONSTANT_NONE,
          .countArgument = -1,
          .sizeBytes = layout.getTypeStoreSize(argument.getType()).getFixedValue(),
          .count = 1,
          .countBytes = 0,
          .flags = MNEME_JIT_MARK_BY_VALUE};
}

void countBy(mneme_jit_mark& mark, const llvm::Argument& argument) {
  mark.countArgument = static_cast<int32_t>(argument.getArgNo());
  mark.countBytes = argument.getType()->getIntegerBitWidth() / 8;
  if (argument.hasZExtAttr())
    mark.flags |= MNEME_JIT_MARK_UNSIGNED_COUNT;
}

void reportFatal(llvm::Module& module, const llvm::Twine& place, const llvm::Twine& reason) {
  fail(module, "[proteus][FATAL ERROR] " + place + " => " + reason);
}

} // namespace mneme::passes
