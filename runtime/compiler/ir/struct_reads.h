// Room compiler/ir: which bytes of a structure that is passed by value a kernel reads.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Function.h>
#include <llvm/Target/TargetMachine.h>

#include <cstdint>

namespace mneme::ir {

/// A load, or an element that is taken out of a structure in registers.
struct StructRead {
  llvm::Instruction* instruction;
  uint64_t offset; ///< bytes
};

struct StructReads {
  llvm::SmallVector<StructRead> values; ///< of known places
  /// Ranges that are copied as bytes: offset and size.
  llvm::SmallVector<std::pair<uint64_t, uint64_t>> copies;
  bool isAllRead = false; ///< its address escapes, or a place is computed at run time
  bool isWritten = false; ///< the kernel may change its copy
};

/// Bytes from the beginning of an aggregate in memory to an element of it.
uint64_t elementOffset(llvm::Type* type, llvm::ArrayRef<unsigned> indices,
                       const llvm::DataLayout& layout);

/// The type of a structure that is passed by value, in memory (`byval`, `byref`) or in registers;
/// null for any other argument.
llvm::Type* structByValue(const llvm::Argument& argument);

/// Returns what a kernel does with such a structure itself. Call exposeStructReads() before, else
/// most structures are passed on.
StructReads readsOfStruct(llvm::Argument& argument);

/// Inlines functions and splits local variables, so that members of structures are read in the
/// kernel one by one. Calculates nothing else.
void exposeStructReads(llvm::Module& module, llvm::TargetMachine& machine);

} // namespace mneme::ir
