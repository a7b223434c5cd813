// Room compile: values that a lambda was registered with become constants of its call operator.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/Support/raw_ostream.h>

#include "runtime/abi/mneme_compile.h"

namespace mneme::compile {

/// Replaces loads of the closure's fields, of which the first argument that is no result is the
/// address, in a function whose locals are in registers. Adds the lines "[LambdaSpec] ..." to
/// `trace`, which may be null, the last field first.
void makeFieldsConstant(llvm::Function& function, const mneme_lambda_value* values, size_t count,
                        llvm::raw_ostream* trace);

} // namespace mneme::compile
