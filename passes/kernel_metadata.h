// Room passes: what a blob says about its closure (runtime/abi/blob_format.h).
#pragma once

#include <llvm/Support/JSON.h>

#include <cstdint>
#include <string>
#include <vector>

#include "passes/build_facts.h"
#include "passes/kernel_closure.h"

namespace mneme::passes {

/// The metadata object. `original` is the module the closure came from: it still says what
/// extraction takes away.
llvm::json::Object describeClosure(const Closure& closure, uint64_t staticHash,
                                   const llvm::Module& original, const BuildFacts& build);

/// The same of a marked host function, which is in `module` under its own name.
llvm::json::Object describeHostFunction(const llvm::Module& module, llvm::StringRef name,
                                        const Marks& marks, uint64_t staticHash);

/// Functions of the closure that the program's own compilation may take for granted, as nobody else
/// defines them. In the closure they look as if others could.
std::vector<std::string> ownFunctions(const Closure& closure, const llvm::Module& original);

/// Whether the source says how many blocks have to fit on a multiprocessor.
bool hasMinBlocks(const llvm::Function& kernel);

/// Demangled name of a kernel, without unique suffixes.
std::string readableName(llvm::StringRef kernel);

} // namespace mneme::passes
