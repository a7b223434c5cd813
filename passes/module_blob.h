// Room passes: writes a blob (runtime/abi/blob_format.h).
#pragma once

#include <llvm/ADT/SmallVector.h>

#include <cstdint>
#include <string>

#include "passes/build_facts.h"
#include "passes/kernel_closure.h"

namespace mneme::passes {

struct Blob {
  uint64_t staticHash = 0;
  llvm::SmallVector<char, 0> bytes;
};

/// Serialises a closure of a program that is compiled as `build` says. Sets `error` to a sentence
/// and returns an empty blob when this compiler cannot (an LLVM without zstd).
Blob makeBlob(const Closure& closure, const llvm::Module& original, const BuildFacts& build,
              std::string& error);

} // namespace mneme::passes
