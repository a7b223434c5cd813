// Room compiler: turns members of structures that a kernel takes by value into constants.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/Function.h>
#include <llvm/Target/TargetMachine.h>

#include "runtime/compiler/module/specialize.h"
#include "runtime/core/abi/mneme_compile.h"

namespace mneme::compile {

/// Replaces reads of the members that are given as MNEME_CONSTANT_MEMBER; other values are left
/// alone. Functions that the kernel calls are inlined for this, as an optimiser does later. What
/// the kernel reads through a computed address, or may have changed, stays.
/// \throws Error{InvalidArgument} for a member that no structure passed by value has.
void specializeMembers(llvm::Function& kernel, llvm::ArrayRef<mneme_arg_value> values,
                       llvm::TargetMachine& machine, TraceText trace);

} // namespace mneme::compile
