// Room compiler: turns the registered values of a lambda into constants of its call operator.
#pragma once

#include <llvm/IR/Function.h>

#include "runtime/compiler/module/specialize.h"
#include "runtime/core/abi/mneme_compile.h"

namespace mneme::compile {

/// Replaces loads of the closure's fields by constants. The closure's address is the first argument
/// that is not a result; the function's locals must be in registers. Trace lines begin with
/// "[LambdaSpec]", the last field first.
void makeFieldsConstant(llvm::Function& function, const mneme_lambda_value* values, size_t count,
                        TraceText trace);

} // namespace mneme::compile
