// Room compile: LLVM pass pipelines given as text.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <string>

namespace mneme::compile {

/// Runs `passes` on `module` for `machine`, then verifies the module. An empty pipeline does
/// nothing.
/// \throws Error{InvalidArgument} naming the offending pass, Error{CompileFailed} when a pass
/// leaves invalid IR behind.
void runPasses(llvm::Module& module, llvm::TargetMachine& machine, const std::string& passes);

/// \throws Error{InvalidArgument} naming the offending pass.
void checkPassPipeline(const std::string& passes);

} // namespace mneme::compile
