// Room passes: runs LLVM on a copy of code inside the compiler, shielded from what goes wrong
// there.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <string>

namespace mneme::passes {

using Bitcode = llvm::SmallVector<char, 0>;

/// Work on a module in a context of its own. Returns "", or what went wrong.
using ShieldedWork = llvm::function_ref<std::string(llvm::Module&, llvm::TargetMachine&)>;

/// Has `work` done on device code, for the processor that the code names. Returns "", or what went
/// wrong in the words of LLVM, errors it reports and a crash included. What LLVM says meanwhile,
/// warnings and remarks, nobody hears.
std::string runShielded(const Bitcode& code, ShieldedWork work);

} // namespace mneme::passes
