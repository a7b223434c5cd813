// Room compile: arguments of marked functions become constants, and a trace says which.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/Support/raw_ostream.h>

#include "runtime/abi/mneme_compile.h"

namespace mneme::compile {

/// The constant of a type that has these bytes: integers, floating point numbers, pointers,
/// vectors, and arrays and structs of them.
/// \throws Error{InvalidArgument} for another type or number of bytes
llvm::Constant* constantOfBytes(llvm::Type* type, mneme_bytes value,
                                const llvm::DataLayout& layout);

/// Replaces arguments by their values: what a pointer leads to becomes a constant variable. Adds
/// the lines "[ArgSpec] ..." to `trace`, which may be null. The signature stays.
/// \throws Error{InvalidArgument} for an index beyond the arguments or a value that does not fit
void makeConstant(llvm::Function& function, const mneme_arg_value* values, size_t count,
                  llvm::raw_ostream* trace);

} // namespace mneme::compile
