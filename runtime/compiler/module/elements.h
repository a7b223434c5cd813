// Room compiler: finds the types of numbers that a kernel stores through each of its pointers.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Support/JSON.h>
#include <llvm/Target/TargetMachine.h>

namespace mneme::compile {

/// For each pointer that `kernel` is given and each device variable that its code leads to memory:
/// {"arg": i, "offset": bytes, "type": "f64", "stored": bool, "unordered": bool}, or "global": name
/// in place of "arg" and "offset". "offset" is where the pointer is in a structure passed by value,
/// else 0. "type" is what the code stores there, whatever the pointer is called in the source; ""
/// if these are numbers of several kinds. Without "stored" the code only reads and copies what is
/// there. "unordered": floating-point numbers are added up there by atomics, so that the result
/// depends on the order of the threads.
///
/// The analysis uses a copy of `module` before any pipeline, so all binaries of a kernel agree.
/// Memory that is reached through pointers in memory is not in the list.
llvm::json::Array describeElements(const llvm::Module& module, llvm::StringRef kernel,
                                   llvm::TargetMachine& machine);

} // namespace mneme::compile
