// Room passes: writes a blob (runtime/embed/blob_format.h).
#pragma once

#include <llvm/ADT/SmallVector.h>

#include <cstdint>
#include <string>

#include "passes/kernel_closure.h"

namespace mneme::passes {

struct Blob {
  uint64_t staticHash = 0;
  llvm::SmallVector<char, 0> bytes;
};

/// Serialises a closure. `optLevel` as in EmbedOptions. Sets `error` to a sentence and returns an
/// empty blob when this compiler cannot (an LLVM without zstd).
Blob makeBlob(const Closure& closure, const llvm::Module& original, llvm::StringRef optLevel,
              std::string& error);

} // namespace mneme::passes
