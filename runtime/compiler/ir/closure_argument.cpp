#include "runtime/compiler/ir/closure_argument.h"

namespace mneme::ir {

llvm::Argument* closureArgument(llvm::Function& callOperator) {
  for (llvm::Argument& argument : callOperator.args())
    if (!argument.hasStructRetAttr())
      return argument.getType()->isPointerTy() ? &argument : nullptr;
  return nullptr;
}

} // namespace mneme::ir
