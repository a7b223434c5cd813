// Room compile: values that a lambda was registered with become constants of its call operator.
#pragma once

#include <llvm/IR/Function.h>

#include "runtime/abi/mneme_compile.h"
#include "runtime/compile/module/specialize.h"

namespace mneme::compile {

/// Replaces loads of the closure's fields, of which the first argument that is no result is the
/// address, in a function whose locals are in registers. Lines begin with "[LambdaSpec]", the
/// last field's first.
void makeFieldsConstant(llvm::Function& function, const mneme_lambda_value* values, size_t count,
                        TraceText trace);

} // namespace mneme::compile
