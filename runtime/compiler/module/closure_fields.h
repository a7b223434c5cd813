// Room compiler: turns the values of a registered lambda into constants of its call operator.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/Function.h>
#include <llvm/Target/TargetMachine.h>

#include "runtime/compiler/module/specialize.h"
#include "runtime/core/abi/mneme_compile.h"

namespace mneme::compile {

/// Replaces loads of the closure's fields by constants, but for fields that the operator changes.
/// The function's locals must be in registers. A trace line for each load begins with
/// "[LambdaSpec]", the last field first.
void makeFieldsConstant(llvm::Function& callOperator,
                        llvm::ArrayRef<const mneme_lambda_value*> values, TraceText trace);

/// Gives each call of a closure in the kernel a copy of the call operator with the closure's own
/// values, as far as its content comes unchanged from the argument that the values are from.
void specializeClosures(llvm::Function& kernel, llvm::ArrayRef<mneme_lambda_value> values,
                        llvm::TargetMachine& machine, TraceText trace);

} // namespace mneme::compile
