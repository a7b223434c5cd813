// Room passes: writes a blob (runtime/core/abi/blob_format.h).
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/Support/JSON.h>

#include <cstdint>
#include <string>

#include "passes/build_facts.h"
#include "passes/kernel_closure.h"

namespace mneme::passes {

struct Blob {
  uint64_t staticHash = 0;
  uint64_t codeHash = 0; ///< CodeIdentity::codeHash; 0: not a kernel's
  llvm::SmallVector<char, 0> bytes;
  size_t bitcodeOffset = 0; ///< of the compressed bitcode, which extends to the end of `bytes`
};

/// Assembles a blob. The compiler's LLVM must have zstd.
Blob packBlob(llvm::StringRef bitcode, llvm::json::Object metadata, uint64_t staticHash);

/// Serialises a closure of a program that is compiled as described by `build`. If the compiler's
/// LLVM has no zstd, sets `error` to a sentence and returns an empty blob.
Blob makeBlob(const Closure& closure, const llvm::Module& original, const BuildFacts& build,
              std::string& error);

} // namespace mneme::passes
