#include "passes/value_kinds.h"

#include <llvm/IR/DerivedTypes.h>
#include <llvm/Support/raw_ostream.h>

namespace mneme::passes {

std::string typeName(llvm::Type* type) {
  if (auto* structType = llvm::dyn_cast<llvm::StructType>(type);
      structType && structType->hasName())
    return structType->getName().str();
  std::string text;
  llvm::raw_string_ostream(text) << *type;
  return text;
}

bool isSpecializable(llvm::Type* type) {
  return type->isIntegerTy(1) || type->isIntegerTy(8) || type->isIntegerTy(32) ||
         type->isIntegerTy(64) || type->isFloatTy() || type->isDoubleTy() || type->isX86_FP80Ty() ||
         type->isPPC_FP128Ty() || type->isFP128Ty();
}

ArgKind kindOf(llvm::Type* type) {
  if (type->isPointerTy())
    return ArgKind::Pointer;
  if (type->isIntegerTy())
    return ArgKind::Integer;
  return type->isFloatingPointTy() ? ArgKind::Float : ArgKind::Aggregate;
}

} // namespace mneme::passes
