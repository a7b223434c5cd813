// Room passes: which bytes of a type hold values, and which lie between its members.
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

/// The bytes of a value in memory that belong to one of its members, in order, neighbours joined.
/// All of them as one, for types with very many runs.
llvm::SmallVector<ByteRun> valueBytes(llvm::Type* type, const llvm::DataLayout& layout);

/// The others, those behind the last member included.
llvm::SmallVector<ByteRun> paddingBytes(llvm::Type* type, const llvm::DataLayout& layout);

} // namespace mneme::passes
