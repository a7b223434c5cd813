// Room compiler: describes how a kernel is built, to show what constants would improve.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Support/JSON.h>
#include <llvm/Target/TargetMachine.h>

namespace mneme::compile {

/// Describes what each loop count, each branch and each load that is the same for all threads
/// depends on, in a copy of `module` that is cleaned up and inlined, with its loops as written:
/// {"loops": [NEEDS], "branches": [NEEDS], "loads": [NEEDS], "fields": [...], "written": [i, ...],
/// "scattered": [i, ...]}.
///
/// NEEDS names what must be constant for the loop, branch or load to fold: {"args": [i, ...] values
/// of arguments and structs passed by value, "members": [[i, offset], ...] of structs passed by
/// value, in bytes, "contents": [i, ...] what pointers lead to, "block", "grid": bool, "varies":
/// bool: something else, as the thread's number or memory, "line": of the source, or 0}. A loop
/// folds when its count is known; a branch in it whose condition changes from round to round then
/// folds as well, and a load with an index of this kind. A load also has "arg", the pointer, and
/// "type"; "fields" are what is read of structs passed by value: {"arg", "offset", "type", "size"};
/// "written": pointers whose content the kernel may change; "scattered": those that threads read at
/// places of their own, so most likely data.
llvm::json::Object describeShape(const llvm::Module& module, llvm::StringRef kernel,
                                 llvm::TargetMachine& machine);

/// {"instructions", "branches", "loops", "loads"}: how many there are in the functions of `module`.
llvm::json::Object countCode(llvm::Module& module);

} // namespace mneme::compile
