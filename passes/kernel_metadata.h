// Room passes: the metadata of a closure in its blob (runtime/core/abi/blob_format.h).
#pragma once

#include <llvm/Support/JSON.h>

#include <cstdint>
#include <string>
#include <vector>

#include "passes/build_facts.h"
#include "passes/kernel_closure.h"
#include "passes/static_hash.h"

namespace mneme::passes {

/// Returns the metadata object. `original` is the module that the closure was extracted from; it
/// still has what extraction removes.
llvm::json::Object describeClosure(const Closure& closure, const CodeIdentity& identity,
                                   const llvm::Module& original, const BuildFacts& build);

/// Returns the metadata object of a marked host function, which has its own name in `module`.
llvm::json::Object describeHostFunction(const llvm::Module& module, llvm::StringRef name,
                                        const Marks& marks, uint64_t staticHash);

/// Returns the closure's functions that only this unit defines, which the program's own compilation
/// may exploit. In the closure they look as if other units could define them too.
std::vector<std::string> ownFunctions(const Closure& closure, const llvm::Module& original);

/// Returns whether the source sets a minimum number of blocks per multiprocessor.
bool hasMinBlocks(const llvm::Function& kernel);

} // namespace mneme::passes
