// Room passes: runs a tuned pipeline inside the compiler, shielded from its failures.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>

#include <string>

namespace mneme::passes {

using Bitcode = llvm::SmallVector<char, 0>;

/// Replaces a kernel's closure, as bitcode, by what `pipeline` makes of it. Everything but `kernel`
/// becomes internal first, as in a tuned run. Returns "", or what went wrong in the words of LLVM,
/// a crash included; `closure` stays then as it was.
std::string optimizeClosure(Bitcode& closure, llvm::StringRef kernel, llvm::StringRef pipeline);

} // namespace mneme::passes
