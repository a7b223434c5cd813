// Room passes: how blobs name the types of values.
#pragma once

#include <llvm/IR/Type.h>

#include <string>

#include "runtime/core/abi/argument.h"

namespace mneme::passes {

/// Returns "i32", "ptr", or the name of a structure without the percent sign.
std::string typeName(llvm::Type* type);

/// Returns whether a value of this type can become a constant.
bool isSpecializable(llvm::Type* type);

ArgKind kindOf(llvm::Type* type);

} // namespace mneme::passes
