// Room compile: bytes become constants of a module.
#pragma once

#include <llvm/IR/Constant.h>
#include <llvm/IR/Function.h>

#include "runtime/abi/mneme_compile.h"

namespace mneme::compile {

/// What content is read as is not known: as aligned as anything of its size may want to be.
inline constexpr uint64_t kContentAlign = 16;

/// Replaces the uses of an argument by what `given.content` says that `given.value` is: a private
/// constant takes the place of what a pointer leads to; a struct passed by value starts as a copy
/// of one. Returns the constant, for people; it has no name. \throws Error{InvalidArgument} for
/// content the argument cannot have.
llvm::Constant* specializeContent(llvm::Argument& argument, const mneme_arg_value& given);

/// A value of `type` from its bytes in memory. Integers, floating-point numbers, pointers, vectors,
/// arrays and structs. \pre `bytes` has the type's store size
llvm::Constant* constantFrom(llvm::Type* type, llvm::ArrayRef<char> bytes,
                             const llvm::DataLayout& layout);

} // namespace mneme::compile
