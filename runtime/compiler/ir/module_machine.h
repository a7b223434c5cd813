// Room compiler/ir: the processor that a module is for.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>

namespace mneme::ir {

/// Returns what tells passes the costs of instructions: the target and processor that the module
/// itself names; null where this LLVM lacks the target.
std::unique_ptr<llvm::TargetMachine> machineFor(const llvm::Module& module);

} // namespace mneme::ir
