// Room passes: finds which bytes of a type hold values and which are padding.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Type.h>

#include <cstdint>

namespace mneme::passes {

struct ByteRun {
  uint64_t offset;
  uint64_t sizeBytes;
};

/// Returns the byte ranges of a value that belong to its members, in order, with adjacent ranges
/// joined. For types with very many ranges, returns one range over all bytes.
llvm::SmallVector<ByteRun> valueBytes(llvm::Type* type, const llvm::DataLayout& layout);

/// Returns the other bytes, including those after the last member.
llvm::SmallVector<ByteRun> paddingBytes(llvm::Type* type, const llvm::DataLayout& layout);

} // namespace mneme::passes
