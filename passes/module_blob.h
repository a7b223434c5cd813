// Room passes: writes a blob (runtime/abi/blob_format.h).
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
  llvm::SmallVector<char, 0> bytes;
  size_t bitcodeOffset = 0; ///< of the compressed bitcode in `bytes`, where it goes to the end
};

/// As LLVM writes it.
llvm::SmallVector<char, 0> bitcodeOf(const llvm::Module& module);

/// Puts a blob together. This compiler's LLVM has to have zstd.
Blob packBlob(llvm::StringRef bitcode, llvm::json::Object metadata, uint64_t staticHash);

/// Serialises a closure of a program that is compiled as `build` says. Sets `error` to a sentence
/// and returns an empty blob when this compiler cannot (an LLVM without zstd).
Blob makeBlob(const Closure& closure, const llvm::Module& original, const BuildFacts& build,
              std::string& error);

} // namespace mneme::passes
