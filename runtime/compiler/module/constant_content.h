// Room compiler: turns bytes into constants of a module.
#pragma once

#include <llvm/IR/Constant.h>
#include <llvm/IR/Function.h>

#include "runtime/core/abi/mneme_compile.h"

namespace mneme::compile {

/// Alignment of content: its type is unknown, so it is aligned for any type.
inline constexpr uint64_t kContentAlign = 16;

/// Replaces the uses of an argument by its content, of the kind `given.content`: a private constant
/// replaces the memory that a pointer leads to; a struct passed by value starts as a copy of one.
/// Returns the constant, for traces; it has no name. \throws Error{InvalidArgument} for content the
/// argument cannot have.
llvm::Constant* specializeContent(llvm::Argument& argument, const mneme_arg_value& given);

/// Makes a value of `type` from its bytes in memory. Integers, floating-point numbers, pointers,
/// vectors, arrays and structs. \pre `bytes` has the type's store size
llvm::Constant* constantFrom(llvm::Type* type, llvm::ArrayRef<char> bytes,
                             const llvm::DataLayout& layout);

} // namespace mneme::compile
